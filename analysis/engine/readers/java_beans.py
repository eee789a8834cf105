"""Classes of Java of which a container makes one object for the whole process: beans of Spring, of CDI and of EJB."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile

ANNOTATIONS = (
    *(b"@Controller", b"@RestController", b"@Service", b"@Component", b"@Repository", b"@Configuration"),
    *(b"@ApplicationScoped", b"@Singleton"),
)
_ANNOTATED = re.compile(rb"@(?:" + b"|".join(each[1:] for each in ANNOTATIONS) + rb")\b")
# Several threads of a queue call the method at once: `@KafkaListener(topics = "scans", concurrency = "4")`.
_AT_ONCE = re.compile(rb"@\w+Listener\([^;{}]*\bconcurrency\s*=\s*\"(?:[2-9]|[1-9]\d|[^\"\d]|1-)")
_SERVLET = re.compile(rb"\bextends\s+\w*Servlet\b")


def has_bean(source: bytes) -> bool:
    """Whether a class of this text, or the one whose header it is, is a bean or a servlet."""
    return _ANNOTATED.search(source) is not None or (b"Servlet" in source and _SERVLET.search(source) is not None)


def listens_at_once(method: Node, file: SourceFile) -> bool:
    """Whether a container calls a method for several messages of a queue at the same time."""
    body = method.child_by_field_name("body")
    if file.language != "java" or body is None or not file.mentions(b"concurrency"):
        return False
    return _AT_ONCE.search(file.source, method.start_byte, body.start_byte) is not None
