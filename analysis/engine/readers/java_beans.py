"""Classes of Java of which a container makes one object for the whole process: beans of Spring, of CDI and of EJB."""

import re

ANNOTATIONS = (
    *(b"@Controller", b"@RestController", b"@Service", b"@Component", b"@Repository", b"@Configuration"),
    *(b"@ApplicationScoped", b"@Singleton"),
)
BEAN = re.compile(rb"(?:" + b"|".join(ANNOTATIONS) + rb")\b|extends\s+\w*Servlet\b")
