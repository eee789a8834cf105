import pytest

from tests.engine.rules.reading import findings_of

RULE = "perf-unbounded-read"
GO = 'package a\nimport (\n\t"io"\n\t"net/http"\n)\n\nfunc show(w http.ResponseWriter, r *http.Request) {\n\t%s\n}\n'
FASTAPI = (
    "from fastapi import FastAPI, UploadFile\napp = FastAPI()\n\n@app.post('/x')\n"
    "async def take(file: UploadFile):\n    %s\n"
)
VIEW = "import requests\n@api_view(['GET'])\ndef show(request):\n    %s\n"
ASKING = (
    "import httpx\nfrom fastapi import FastAPI, Request\napp = FastAPI()\n\n@app.post('/x')\n"
    "async def take(request: Request, address: str):\n    sent = await request.json()\n"
    "    async with httpx.AsyncClient() as client:\n        got = await client.get(%s)\n    %s\n"
)
EXPRESS = (
    "const axios = require('axios');\nconst router = require('express').Router();\n"
    "router.get('/x', async (req, res) => {\n  %s\n});\n"
)
NEST = (
    "import { Controller, Post, UseInterceptors } from '@nestjs/common';\n"
    "import { FileInterceptor } from '@nestjs/platform-express';\n@Controller('x')\nexport class A {\n"
    "  @UseInterceptors(FileInterceptor('photo'%s))\n  @Post() take() { return 1; }\n}\n"
)
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
        (
            "a.py",
            VIEW % "got = requests.get(f'https://shop.example/{request.GET[\"id\"]}')\n    return got.content",
            [],
        ),
        ("a.py", VIEW % "got = requests.get(request.data['url'])\n    return got.text", [5]),
        ("a.py", VIEW % "return requests.get(request.GET['url']).content", [4]),
        ("a.py", VIEW % "data = request.FILES['x'].file.read()", [4]),
        ("a.py", FASTAPI % "data = file.file.read()", [6]),
        ("a.py", ASKING % ("sent['url']", "data = got.content"), [10]),
        ("a.py", ASKING % ("address", "data = got.content"), [10]),
        ("a.py", ASKING % ("f'https://shop.example/{address}'", "data = got.content"), []),
        ("a.py", ASKING % ("sent['url']", "data = got.status_code"), []),
        ("a.js", EXPRESS % "const got = await axios.get(req.query.url);", [4]),
        ("a.js", EXPRESS % "const { url } = req.body;\n  const got = await axios.get(url);", [5]),
        ("a.js", EXPRESS % "const got = await axios.get(req.query.url, { maxContentLength: 9 });", []),
        ("a.js", EXPRESS % "const got = await axios.get(req.query.url, { responseType: 'stream' });", []),
        ("a.js", EXPRESS % "const got = await axios.get(`https://shop.example/${req.query.id}`);", []),
        ("a.js", EXPRESS % "const got = await fetch(req.query.url);\n  const data = await got.arrayBuffer();", [5]),
        ("a.js", EXPRESS % "const got = await fetch(req.query.url);\n  res.json(got.status);", []),
        ("a.ts", NEST % "", [5]),
        ("a.ts", NEST % ", { limits: { fileSize: 9 } }", []),
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


@pytest.mark.parametrize(
    ("condition", "count"),
    [("answer.StatusCode != http.StatusOK", 0), ("answer.StatusCode == http.StatusOK", 1), ("wanted", 1)],
)
def test_the_answer_that_says_what_failed_is_short(condition, count):
    body = f"answer, _ := http.Get(address)\n\tif {condition} {{\n\t\tdata, _ := io.ReadAll(answer.Body)\n\t}}"
    assert len(findings_of(RULE, {"a.go": GO % body})) == count


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


def test_a_limit_on_requests_is_none_on_what_services_answer():
    read = (
        'package a\n\nimport (\n\t"io"\n\t"net/http"\n)\n\n'
        "func show(w http.ResponseWriter, r *http.Request) {\n\tanswer, _ := http.Get(address)\n"
        "\tdata, _ := io.ReadAll(answer.Body)\n\tuse(data)\n}\n"
    )
    around = (
        'package a\n\nimport "net/http"\n\nfunc Limit(next http.Handler) http.Handler {\n'
        "\treturn http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n"
        "\t\tr.Body = http.MaxBytesReader(w, r.Body, 9)\n\t\tnext.ServeHTTP(w, r)\n\t})\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"a/show.go": read, "a/limit.go": around})] == [10]


def test_the_request_of_echo():
    source = (
        'package a\n\nimport (\n\t"io"\n\t"github.com/labstack/echo/v4"\n'
        ')\n\nfunc Add(e *echo.Echo) {\n\te.POST("/x", take)\n}\n\n'
        "func take(c echo.Context) error {\n\tbody, err := io.ReadAll(c.Request().Body)\n\treturn keep(body, err)\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"a/take.go": source})] == [13]


@pytest.mark.parametrize(
    ("opened", "count"),
    [
        ('file, _, err := r.FormFile("photo")', 1),
        ('header, err := c.FormFile("photo")\n\tfile, err := header.Open()', 1),
        ('file, err := os.Open("photo")', 0),
        ('header, err := c.FormFile("photo")\n\tfile, err := other.Open()', 0),
    ],
)
def test_a_file_of_a_form_in_go(opened, count):
    assert len(findings_of(RULE, {"a.go": GO % f"{opened}\n\tdata, _ := io.ReadAll(file)"})) == count
    limited = f"{opened}\n\tdata, _ := io.ReadAll(io.LimitReader(file, 100))"
    assert findings_of(RULE, {"a.go": GO % limited}) == []


@pytest.mark.parametrize(("stream", "count"), [("GZIPInputStream", 1), ("BufferedInputStream", 0)])
def test_a_body_that_java_unpacks(stream, count):
    source = SPRING.replace("MultipartFile file", "HttpServletRequest request")
    body = f"try (var in = new {stream}(request.getInputStream())) {{ use(in.readAllBytes()); }}"
    assert len(findings_of(RULE, {"A.java": source % body})) == count


FLASK = (
    "from flask import Flask, request\napp = Flask(__name__)\n%s\n@app.post('/x')\ndef take():\n"
    "    return str(len(%s))\n"
)


@pytest.mark.parametrize("read", ["request.get_data()", "request.files['x'].read()"])
def test_the_limit_of_flask(read):
    (finding,) = findings_of(RULE, {"shop/app.py": FLASK % ("", read)})
    assert finding.line == 6
    assert findings_of(RULE, {"shop/app.py": FLASK % ("app.config['MAX_CONTENT_LENGTH'] = 9", read)}) == []
    files = {"shop/app.py": FLASK % ("", read), "shop/config.py": "class Config:\n    MAX_CONTENT_LENGTH = 9\n"}
    assert findings_of(RULE, files) == []


@pytest.mark.parametrize(
    ("read", "count"),
    [
        ("await gunzip(req.body)", 1),
        ("await gunzip(req.body, { maxOutputLength: 9 })", 0),
        ("zlib.inflateSync(req.body)", 1),
        ("await gzip(req.body)", 0),
        ("await other.gunzip(req.body)", 0),
    ],
)
def test_a_body_that_script_unpacks(read, count):
    head = (
        "const zlib = require('zlib');\nconst { promisify } = require('util');\n"
        "const gunzip = promisify(zlib.gunzip);\nconst gzip = promisify(zlib.gzip);\n"
    )
    found = findings_of(RULE, {"a.js": head + EXPRESS % f"const data = {read};"})
    assert len(found) == count


@pytest.mark.parametrize(
    ("parameter", "read", "count"),
    [
        ("request: NextRequest", "request.arrayBuffer()", 1),
        ("request: Request", "request.json()", 0),
        ("answer: Response", "answer.arrayBuffer()", 0),
    ],
)
def test_the_body_of_a_route_of_next(parameter, read, count):
    source = f"export async function POST({parameter}) {{\n  return Response.json(await {read});\n}}\n"
    assert len(findings_of(RULE, {"app/api/x/route.ts": source})) == count


@pytest.mark.parametrize(("made", "count"), [("httpx.AsyncClient()", 1), ("load()", 0)])
def test_an_answer_that_a_client_of_another_module_brings(made, count):
    files = {
        "app/clients.py": f"import httpx\n\nhttp = {made}\n",
        "app/views.py": (
            "from app.clients import http\n\n@router.post('/x')\nasync def take(link: Link):\n"
            "    answer = await http.get(str(link.url))\n    return answer.content\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files)] == [6] * count


@pytest.mark.parametrize(
    ("path", "said", "count"),
    [
        ("src/main/resources/application.properties", "spring.servlet.multipart.max-file-size=2MB\n", 0),
        (
            "src/main/resources/application-prod.yml",
            "spring:\n  servlet:\n    multipart:\n      max-file-size: 2MB\n",
            0,
        ),
        ("src/main/resources/application.yml", "spring:\n  servlet:\n    multipart:\n      max-file-size: -1\n", 1),
        ("src/main/resources/application.properties", "spring.datasource.url=jdbc:h2:x\n", 1),
    ],
)
def test_spring_is_told_how_large_an_upload_may_be(path, said, count):
    source = (
        '@RestController\nclass Maps {\n  @PostMapping("/maps")\n  void take(@RequestParam MultipartFile map) {\n'
        "    keep(map.getBytes());\n  }\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/main/java/Maps.java": source, path: said})] == [5] * count
