"""What the people who run the service look at: probes, metrics, and the start page of the admin."""
