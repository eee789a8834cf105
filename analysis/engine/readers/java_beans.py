"""Classes of Java of which a container makes one object for the whole process: beans of Spring, of CDI and of EJB."""

import re

ANNOTATIONS = (
    *(b"@Controller", b"@RestController", b"@Service", b"@Component", b"@Repository", b"@Configuration"),
    *(b"@ApplicationScoped", b"@Singleton"),
)
_ANNOTATED = re.compile(rb"@(?:" + b"|".join(each[1:] for each in ANNOTATIONS) + rb")\b")
_SERVLET = re.compile(rb"\bextends\s+\w*Servlet\b")


def has_bean(source: bytes) -> bool:
    """Whether a class of this text, or the one whose header it is, is a bean or a servlet."""
    return _ANNOTATED.search(source) is not None or (b"Servlet" in source and _SERVLET.search(source) is not None)
