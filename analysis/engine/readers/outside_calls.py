"""Which calls leave the process, by their names: over HTTP, by mail, into a queue, to a process."""

import re
from functools import lru_cache

from analysis.engine.facts import FileFacts, Function

_VERBS = r"(?:get|post|put|patch|delete|head|request|Get|Post|PostForm|Head)"
_HTTP = (
    rf"(?:requests|httpx|aiohttp)\.(?:\w+\(\)\.)?{_VERBS}|urllib\.request\.urlopen|fetch|node-fetch|undici\.\w+|axios(?:\.{_VERBS})?"
    rf"|got(?:\.{_VERBS})?|https?\.(?:get|request)|net/http\.{_VERBS}|(?:\w+\.)*(?:http|rest|web)[cC]lient(?:\(\))?\.(?:Do|Get|Post|PostForm|Head|send|sendAsync|get|post|put|exchange|execute)"
    rf"|(?:\w+\.)*\w*[cC]lient\.(?:Do|Post|PostForm)|(?:\w+\.)+http\.Do|(?:\w+\.)+http(?:Service)?\.(?:axiosRef\.)?{_VERBS}"
    # Chains of Spring's clients, and OkHttp's calls.
    r"|(?:\w+\.)*\w*(?:[rR]est|[wW]eb)Client(?:\.\w+(?:\(\))?)+\.(?:retrieve|exchange\w*)|(?:[\w.]+\.)?newCall\(\)\.execute"
    # JAX-RS
    r"|(?:\w+\.)*\w+\.target\(\)(?:\.\w+\(\))*\.request\(\)(?:\.\w+\(\))*\.(?:get|post|put|delete|head|method|invoke)"
    r"|(?:\w+\.)*restTemplate\.(?:get|post|patch|head|options)For\w+|(?:\w+\.)*restTemplate\.(?:put|delete|exchange|execute)|(?:\w+\.)*_?(?:session|client)\.(?:post|put|patch|request)"
)
_MAIL = (
    r"django\.core\.mail\.(?:send_mail|send_mass_mail|mail_admins|mail_managers)|smtplib\.SMTP\w*|net/smtp\.SendMail"
    r"|(?:\w+\.)*\w*[mM]ail(?:er|Sender|Service|Client|Gateway)?\.(?:send\w*)|(?:[\w.]+\.)?(?:sendMail|sendEmail|send_email|send_mail)"
)
_QUEUE = (
    r"[\w.]+\.(?:delay|apply_async)|(?:\w+\.)*(?:\w*[kK]afka|rabbit|jms)Template\.(?:send|convertAndSend)"
    r"|(?:\w+\.)*\w*[qQ]ueue\.add|(?:[\w.]+\.)?triggerJob"
    r"|(?:\w+\.)*\w*(?:[qQ]ueue|[sS]qs|[kK]afka|[rR]abbit|[mM][qQ]|[bB]us|[bB]roker|[tT]opic)\w*\.(?:[sS]end|[pP]ublish)Message"
    r"|(?:\w+\.)*\w*(?:[pP]roducer|[pP]ublisher)\.(?:send|publish|produce|Publish|Produce|SendMessages?)"
    # NATS by what its connections are called, then Kafka's, RabbitMQ's and Celery's own names
    r"|(?:\w+\.)*(?:nc|js|jetstream|\w*[nN]ats(?:[cC]onn)?)\.(?:Publish\w*|Request\w*)"
    r"|(?:\w+\.)+(?:WriteMessages|PublishWithContext|basic_publish|basicPublish|sendToQueue|send_task)"
)
_PAYMENT = (
    r"(?:\w+\.)*[sS]tripe\.(?:\w+\.)+(?:create|modify|update|retrieve|list|capture|confirm|refund|cancel|del|delete)"
)
_CLOUD = (
    r"(?:\w+\.)*(?:s3|sqs|sns|ses)(?:_?[cC]lient)?\.(?:send|put\w*|upload\w*|get_object|delete_object|publish|send_\w+)"
    # A client of boto3, but for what it makes or knows by itself.
    r"|boto3\.[\w-]+\.(?!generate_presigned|get_paginator|get_waiter|can_paginate|close$|exceptions|meta)[a-z]\w*"
)
_PROCESS = (
    r"subprocess\.(?:run|call|check_call|check_output|Popen)|os\.system|os/exec\.Command(?:Context)?\(\)\.(?:Run|Output|CombinedOutput|Start)"
    r"|child_process\.\w+|(?:new|[\w.]*\.)?[pP]rocessBuilder(?:\(\)(?:\.\w+\(\))*)?\.start|(?:java\.lang\.)?Runtime\.getRuntime\(\)\.exec"
)
_SLEEP = r"time\.sleep|asyncio\.sleep|time\.Sleep|(?:[\w.]+\.)?Thread\.sleep|(?:[\w.]+\.)?TimeUnit\.\w+\.sleep"
_KINDS = {
    "calls another service over HTTP": re.compile(_HTTP),
    "sends mail": re.compile(_MAIL),
    "puts a message into a queue": re.compile(_QUEUE),
    "talks to the payment provider": re.compile(_PAYMENT),
    "talks to a cloud service": re.compile(_CLOUD),
    "runs a process": re.compile(_PROCESS),
    "sleeps": re.compile(_SLEEP),
}
_OF_OTHERS = re.compile(r"ueue\.add$|^(?:requests|httpx|aiohttp|axios|got)\.")
_OF_SCRIPTS = re.compile(  # in other languages anything may be called so
    r"(?:fetch|got|axios)\b|https?\.(?:get|request)$"
)
_OF_CELERY = re.compile(r"\.(?:delay|apply_async)$")
_ANY = re.compile("|".join(pattern.pattern for pattern in _KINDS.values()))


def by_class(call: str, function: Function, facts: FileFacts) -> str:
    """A call on a field of Java, named after the class that the field is declared as: `rest.postForObject` of a
    `RestTemplate` is `restTemplate.postForObject`."""
    receiver, dot, steps = call.removeprefix("this.").partition(".")
    if not dot or facts.language != "java":
        return call
    owners = (each.field_types for each in facts.classes if each.name == function.owner)
    kind = next((kind for types in owners for name, kind in types if name == receiver), "")
    return f"{kind[:1].lower()}{kind[1:]}.{steps}" if kind else call


@lru_cache(maxsize=2**16)  # the same few names are called everywhere
def what_it_does(call: str, language: str = "") -> str:
    """What a call does outside of the process, in words; empty when it stays inside, as far as its name tells."""
    call = call if _ANY.fullmatch(call) else call.rpartition("/")[2]  # `./mailer.mailer.send` of a file at hand
    if not _ANY.fullmatch(call) or (language == "java" and _OF_OTHERS.search(call)):
        return ""  # Java's queues are collections, and its `requests` a counter or a list
    if language in ("python", "go", "java") and _OF_SCRIPTS.match(call):
        return ""
    if language not in ("python", "") and _OF_CELERY.search(call):
        return ""
    return next(words for words, pattern in _KINDS.items() if pattern.fullmatch(call))
