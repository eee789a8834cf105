"""Functions and methods of Go's own packages, and of drivers, that are known to return an error."""

import re


def _each(package: str, names: str) -> set[str]:
    return {f"{package}.{name}" for name in names.split()}


ALONE = frozenset(  # the error is all that they give back
    _each("os", "Mkdir MkdirAll Rename WriteFile Chmod Chown Chdir Truncate Symlink Link")
    | _each("encoding/json", "Unmarshal")
    | _each("encoding/xml", "Unmarshal")
    | _each("encoding/binary", "Write Read")
    | _each("io", "Copy WriteString")
    | _each("net/http", "ListenAndServe ListenAndServeTLS Serve")
    | _each("database/sql", "Ping")
    | _each("fmt", "Sscan Sscanf Sscanln")
    | _each("os", "Remove RemoveAll")
    | _each("os/exec.Command()", "Run Start")
    | _each("os/exec.CommandContext()", "Run Start")
    | {"gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml.v2.Unmarshal", "io/ioutil.WriteFile"}
)
BESIDE = frozenset(  # the error is the last of several results
    _each("strconv", "Atoi ParseInt ParseUint ParseFloat")  # what is no boolean means no
    | _each("os", "Open OpenFile Create ReadFile ReadDir Stat CreateTemp MkdirTemp")
    | _each("io", "ReadAll Copy")
    | _each("io/ioutil", "ReadAll ReadFile ReadDir")
    | _each("encoding/json", "Marshal MarshalIndent")
    | _each("net/http", "Get Post PostForm NewRequest NewRequestWithContext")
    | _each("net/url", "Parse QueryUnescape PathUnescape")
    | _each("time", "Parse ParseDuration LoadLocation ParseInLocation")
    | _each("encoding/hex", "DecodeString")
    | _each("database/sql", "Open")
    | _each("os/exec.Command()", "Output CombinedOutput")
    | _each("os/exec.CommandContext()", "Output CombinedOutput")
    | {"encoding/base64.StdEncoding.DecodeString", "github.com/google/uuid.Parse", "regexp.Compile"}
)
# Of values that a program has made itself, or where no number means nothing, they seldom matter.
RARELY_FAIL = frozenset(_each("strconv", "Atoi ParseInt ParseUint ParseFloat") | _each("json", "Marshal MarshalIndent"))
METHODS = {  # to the number of arguments, -1 for any
    "Ack": 1,
    "Nack": 2,
    "Commit": -1,  # pgx hands it a context
    "CommitMessages": -1,  # of Kafka
    "WriteMessages": -1,
    "Encode": 1,
    "Decode": 1,
    "Sync": 0,
    "Flush": 0,
    "Exec": -1,
    "ExecContext": -1,
    "Scan": -1,
    "Query": -1,
    "QueryContext": -1,
    "Ping": 0,
    "Shutdown": 1,
    "ListenAndServe": 0,
}
DATABASE = re.compile(r"(\w*db|tx|txn|conn|stmt|pool)", re.IGNORECASE)
PAIRS = {  # methods that give an error beside another result
    **dict.fromkeys("Query QueryContext Exec ExecContext Begin BeginTx Prepare PrepareContext".split(), DATABASE),
    "Do": re.compile(r"(?:\w*[cC]lient|DefaultClient)"),
    "LastInsertId": re.compile(r"res(?:ult)?"),
}
RECEIVERS = {
    "Ack": re.compile(r"d|m|msg|\w*[dD]elivery|\w*[mM]essage"),  # of RabbitMQ; others have no arguments or no error
    "Nack": re.compile(r"d|m|msg|\w*[dD]elivery|\w*[mM]essage"),
    "Commit": re.compile(r"tx|txn|transaction", re.IGNORECASE),
    "CommitMessages": re.compile(r"r|\w*[rR]eader|\w*[cC]onsumer"),
    "WriteMessages": re.compile(r"w|\w*[wW]riter|\w*[pP]roducer"),
    "Encode": re.compile(r"enc(oder)?|NewEncoder\(\)", re.IGNORECASE),
    "Decode": re.compile(r"dec(oder)?|NewDecoder\(\)", re.IGNORECASE),
    "Sync": re.compile(r"f|\w*file", re.IGNORECASE),
    "Scan": re.compile(r"rows?|QueryRow(Context)?\(\)"),
    "Shutdown": re.compile(r"srv|\w*[sS]erver"),
    "ListenAndServe": re.compile(r"srv|\w*[sS]erver"),
}
CLOSING = frozenset({"Close", "Flush", "Write", "WriteAt", "WriteString"})  # of what was opened to be written
WRITERS = frozenset(
    _each("os", "Create CreateTemp")
    | {"compress/gzip.NewWriter", "archive/zip.NewWriter", "archive/tar.NewWriter", "compress/zlib.NewWriter"}
    | {"bufio.NewWriter", "bufio.NewWriterSize"}
)
