import pytest

from tests.engine.rules.reading import findings_of

RULE = "perf-unbounded-read"
GO = 'package a\nimport (\n\t"io"\n\t"net/http"\n)\n\nfunc show(w http.ResponseWriter, r *http.Request) {\n\t%s\n}\n'
FASTAPI = (
    "from fastapi import FastAPI, UploadFile\napp = FastAPI()\n\n@app.post('/x')\n"
    "async def take(file: UploadFile):\n    %s\n"
)
VIEW = "import requests\n@api_view(['GET'])\ndef show(request):\n    %s\n"
SPRING = (
    'package a;\nimport org.springframework.web.bind.annotation.*;\n@RestController\nclass A {\n  @PostMapping("/x")\n'
    "  public void take(MultipartFile file) {\n    %s\n  }\n}\n"
)


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        ("a.go", GO % "data, _ := io.ReadAll(r.Body)", [8]),
        ("a.go", GO % "r.Body = http.MaxBytesReader(w, r.Body, 100)\n\tdata, _ := io.ReadAll(r.Body)", []),
        ("a.go", GO % "data, _ := io.ReadAll(file)", []),
        ("a.go", GO % "answer, _ := http.Get(address)\n\tdata, _ := io.ReadAll(answer.Body)", [9]),
        ("a.go", GO % "zr, _ := gzip.NewReader(r.Body)\n\tdata, _ := io.ReadAll(zr)", [9]),
        ("a.py", FASTAPI % "data = gzip.decompress(file)", [6]),
        ("a.py", VIEW % "sent = request.FILES['x']\n    data = sent.read()", [5]),
        ("a.py", VIEW % "sent = open('x')\n    data = sent.read()", []),
        ("a.py", VIEW % "got = requests.get(request.GET['url'])\n    return got.content", [5]),
        ("a.py", VIEW % "url = request.GET['url']\n    got = requests.get(url)\n    return got.content", [6]),
        ("a.py", VIEW % "got = requests.get(request.GET['url'], stream=True)\n    return got.content", []),
        ("a.py", VIEW % "got = requests.get(ADDRESS)\n    return got.content", []),
        ("A.java", SPRING % "byte[] data = file.getInputStream().readAllBytes();", [7]),
        ("a.py", FASTAPI % "data = await file.read()", [6]),
        ("a.py", FASTAPI % "data = await file.read(1024)", []),
        ("a.py", FASTAPI % "data = open('x').read()", []),
        ("A.java", SPRING % "byte[] data = file.getBytes();", [7]),
        ("A.java", SPRING % 'byte[] data = "x".getBytes();', []),
        ("a.js", "const upload = multer({ storage: multer.memoryStorage() });\n", [1]),
        ("a.js", "const upload = multer();\nupload.none()(request, response, next);\n", []),
        ("a.js", "const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: 9 } });\n", []),
    ],
)
def test_input_of_any_size(path, source, lines):
    assert [each.line for each in findings_of(RULE, {path: source})] == lines


def test_tools_read_what_they_are_given():
    source = 'package a\nimport "io"\n\nfunc load(r *Answer) {\n\tio.ReadAll(r.Body)\n}\n'
    assert findings_of(RULE, {"a.go": source}) == []


def test_a_function_that_signs_a_request_made_its_body():
    source = 'package a\nimport "io"\n\nfunc signOrder(r *Order) {\n\tio.ReadAll(r.Body)\n}\n'
    assert findings_of(RULE, {"a.go": source}) == []


@pytest.mark.parametrize(
    ("body", "confidence"),
    [
        ("data, _ := io.ReadAll(r.Body)", "medium"),
        ("answer, _ := http.Get(address)\n\tdata, _ := io.ReadAll(answer.Body)", "low"),
    ],
)
def test_the_answer_of_a_service_is_a_guess(body, confidence):
    (finding,) = findings_of(RULE, {"a.go": GO % body})
    assert str(finding.confidence) == confidence


def test_a_handler_around_all_others_may_set_the_limit():
    read = (
        'package a\n\nimport (\n\t"io"\n\t"net/http"\n)\n\n'
        "func take(w http.ResponseWriter, r *http.Request) {\n\tdata, _ := io.ReadAll(r.Body)\n\tuse(data)\n}\n"
    )
    around = (
        'package a\n\nimport "net/http"\n\nfunc Limit(next http.Handler) http.Handler {\n'
        "\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n"
        "\t\tr.Body = http.MaxBytesReader(w, r.Body, 9)\n\t\tnext.ServeHTTP(w, r)\n\t})\n}\n"
    )
    assert len(findings_of(RULE, {"a/take.go": read})) == 1
    assert findings_of(RULE, {"a/take.go": read, "a/limit.go": around}) == []
