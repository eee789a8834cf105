"""What a path says about a file: its language, and whether it is code of the project at all (rules.md 1.7)."""

import re
from collections import Counter
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePosixPath


class FileKind(StrEnum):
    SOURCE = "source"
    TEST = "test"
    MIGRATION = "migration"
    SCRIPT = "script"
    VENDORED = "vendored"  # not analysed, not counted
    GENERATED = "generated"  # not analysed; still a node of the import graph
    STUB = "stub"  # feeds the indexes only


LANGUAGE_OF_SUFFIX = {
    ".py": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".java": "java",
    ".go": "go",
    ".prisma": "prisma",
    ".sql": "sql",
}
MANIFEST = re.compile(
    r"(^|/)(package\.json|[jt]sconfig[^/]*\.json|go\.mod|go\.work|pyproject\.toml|setup\.cfg|requirements[^/]*\.txt"
    r"|pom\.xml|build\.gradle(\.kts)?|pnpm-workspace\.yaml|resources/application[\w-]*\.(?:properties|ya?ml))$"
)
ATTRIBUTES = ".gitattributes"
PARSED = frozenset({"python", "javascript", "typescript", "tsx", "java", "go"})
DISPLAY_NAME = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TypeScript",
    "java": "Java",
    "go": "Go",
    "prisma": "Prisma",
    "sql": "SQL",
    "manifest": "Other",
    "gitattributes": "Other",
    "text": "Other",
}

AS_TEST = "-test"  # behind the language of a reading

_VENDORED = re.compile(
    r"(^|/)(_?vendor|node_modules|(?<!settings/)third[_-]party|site-packages|bower_components|dist|build|venv)/"
    r"|(^|/)\.(?!server/|client/)[^/]+/"  # of tools, but for the two that Remix gives a meaning
    # copies of editors and viewers that a page loads
    r"|(^|/)(public|static|assets|resources?|webapp)/((?:libs?|js|plugins?|vendors?)/)?(pdfjs|codemirror|ckeditor|ueditor|tinymce|monaco-editor|mathjax|katex)/"
    r"|(^|/)closure/goog/|(^|/)jquery[.-][\w.-]*\.js$"  # plug-ins are named so, and copied as they are
    # libraries of pages that were copied as they are
    r"|(^|/)(public|static|assets|resources)/(?:[^/]+/)*(jquery|bootstrap|select2|redactor|ckeditor|tinymce|summernote"
    r"|moment|lodash|underscore|handlebars|backbone|knockout|modernizr|fullcalendar|three|d3|echarts|highcharts|chart|vue"
    r"|angular|react|swagger-ui(?:-\w+)*|redoc)(\.\w+)?\.js$"
    # a release: `codemirror-5.17.0/`, `jquery-3.6.1.js`
    r"|(^|/)(?![vV]ersion-|[mM]igration-|[uU]pgrade-)[A-Za-z][\w.-]*-v?\d+\.\d+\.\d+[\w.-]*(/|\.js$)"
)
# Libraries of Python that were copied as they are, by names that nobody gives to code of their own.
_COPIED = re.compile(
    r"(?:^|/)(?:libs?|ext|externals?|third_?parties|thirdparty)/(?:[\w-]+/)?(?:apscheduler|babelfish|bs4|certifi|chardet"
    r"|charset_normalizer|cheroot|cherrypy|colorama|configobj|dateutil|defusedxml|dogpile|enzyme|feedparser|gevent"
    r"|guessit|hachoir|html5lib|httplib2|httpx|idna|importlib_metadata|importlib_resources|itsdangerous|jaraco|jinja2"
    r"|jsonschema|knowit|mako|markupsafe|more_itertools|musicbrainzngs|mutagen|oauthlib|peewee|pkg_resources|pyasn1"
    r"|pycparser|pygments|pymysql|pyparsing|pytz|rarfile|rebulk|requests|requests_oauthlib|setuptools|simplejson|six"
    r"|sortedcontainers|soupsieve|sqlalchemy|stevedore|subliminal|tornado|typing_extensions|tzdata|tzlocal|ujson"
    r"|unidecode|urllib3|waitress|webencodings|werkzeug|wrapt|xmltodict|zipp)(?:/(?:[^/]+/)*[^/]+|(?<=/six))\.py$"
)
_LIBRARY = re.compile(r"((?:^|.*/)(?:libs?|ext|externals?|third_?parties|thirdparty)/)([\w-]+)(?:/|\.py$)")
_ENOUGH_COPIES = 3
_CAME_WITH = re.compile(  # what an installer leaves beside packages, and a library that brought its own licence along
    r"(.+?)/[^/]+\.dist-info/|((?:.*/)?(?:libs?|externals?)/[^/]+)/LICEN[CS]E(?:\.\w+)?$"
)
_MANIFESTS = ("package.json", "project.json", "pyproject.toml", "setup.py", "go.mod", "pom.xml", "build.gradle")
_GENERATED = re.compile(
    r"(_pb2(_grpc)?\.py|\.pb\.go|\.pb\.gw\.go|\.g\.ts|\.(min|bundle)\.(js|css)|\.nocache\.js|\.generated\.\w+|(^|/)package-lock\.json"
    r"|(^|/)(__)?generated(__)?/[^/]*\.([cm]?[jt]sx?|py|java|go)"
    r"|(^|/)(yarn|poetry|uv|Cargo|composer|Gemfile|Pipfile)\.lock|(^|/)pnpm-lock\.yaml|(^|/)go\.sum)$"
)
_MIGRATION = re.compile(
    r"(^|/)(?:\w+_)?migrations(?:_\w+)?/([^/]+/)?[^/]+\.(py|sql|[cm]?[jt]s)$|(^|/)alembic/versions/|(^"
    r"|/)migrations/versions/|(^|/)versions/(?:\w+/)?(?:[0-9a-f]{8,}_|\d{4}[-_]\d\d[-_]|\d{3,4}_).*\.py$"
    r"|(^|/)db/(migration|changelog)/|(^|/)migrate/[^/]+\.(sql|go)$|(^|/)migrations/([^/]+/)?[^/]+\.go$"
    r"|(^|/)(db|database|datastore|store|models?|sql|persistence)/([^/]+/)*migration/[^/]+\.go$"
    r"|(^|/)migrations?/\d{8,}\w*\.go$|(^|/)migrations/(v[\d_.]+/)?\w+\.java$"
    r"|(^|/)[VRU]\d[\w.]*__\w+\.java$|(^|/)drizzle/(?:[\w-]+/)?\w+\.sql$"
    # named after the second in which it was written: `1.4.0-1715829731-rename-hooks.ts`
    r"|(^|/)(?:[\w.]+-)?(?:1\d{9}|1\d{12}|20\d{12}(?:\d\d)?)[-_][A-Za-z][\w-]*\.(?:[cm]?[jt]s|go)$"
    r"|(^|/)migrations?/\d{8,}[\w-]*/[^/]+\.[jt]s$|(^|/)migration/[vV]ersion-[\d.]+\.[jt]s$|(^|/)upgrades/\d+\.\d+[^/]*/[^/]+\.[jt]s$"
)
_TEST = re.compile(
    r"(^|/)(tests?(?:[_-](?:e2e|unit|integration|functional))?|\w+_test_utils?|integration/e2e\w*|test-(?:helpers?|utils?)|(?:helpers?|utils?)_?tests?|unittests?|__tests__"
    r"|(?:__)?mocks(?:__)?|testing|testdata|spec|e2e(?:-tests?)?|cypress)/|(^|/)t/(unit|integration"
    r"|smoke)/|(^|/)src/(test|\w+Test|testFixtures|test-fixtures|jmh|it)/|(^|/)[\w-]*integrat(ion|ed)-tests?[\w-]*/"
    r"|(^|/)(?:(?!ab[_-])[\w-]+[_-]tests|[\w-]+-e2e|e2e[_-]test)/|(^|/)(vitest|jest|playwright|cypress)[\w.-]*\.(config|setup)\.[cm]?[jt]s$"
    r"|(^|/)(?:(?:jest|vitest|test)[.-]?setup|setup[.-]?(?:[jJ]est|[vV]itest|[tT]ests?))\.[cm]?[jt]sx?$"
    r"|(^|/)(test[_-][^/]*|conftest|pytest_plugin|testing|[^/]*_test|tests|mocks)\.py$|_test(?:_helpers?|_utils?)?\.go$|[.-](test|spec|cy|stories|integ"
    r"|e2e-spec|(?:client|server|unit|int|integration|api)test)\.[cm]?[jt]sx?$"
    r"|(Test|Tests|TestCase|IT)\.java$"
)
_SCRIPT = re.compile(  # in Java the first folder is a domain: `dev.acme`, `tools.acme`
    r"(^|/)(?<!com/)(?<!org/)(?<!net/)(?<!/java/)(bin|([\w-]+-)?scripts?(-dev)?|((dev|build|ci|ai|claude|release|repo|maintenance)-)?tools|hack|dev|extra|([\w-]+-)?examples?|samples?|bench(?:es|marks?)?)/"
    r"|(^|/)cmd/.*main\.go$|^devtools/.*\.(?:go|py)$|(^"
    r"|/)management/commands/|^(?:[^/]+/)?contrib/(?!__init__)[^/]+\.py$|^contrib/(?:internal|tools?|utils?)/|(^|/)(setup|manage)\.py$|^(noxfile|fabfile)\.py$|(^|/)magefiles?(\.go$|/)"
)
# Below it folders are packages of Java, named for what they are about: those of vendors, of builds.
_OF_PACKAGES = "src/main/java/"
_STUB = re.compile(r"\.pyi$|\.d\.[cm]?ts$")


@lru_cache(maxsize=200_000)
def language_of(path: str) -> str:
    """The language by name and suffix; `text` for everything else."""
    if MANIFEST.search(path):
        return "manifest"
    if path.endswith(ATTRIBUTES) and PurePosixPath(path).name == ATTRIBUTES:
        return "gitattributes"
    return LANGUAGE_OF_SUFFIX.get(PurePosixPath(path).suffix.lower(), "text")


@lru_cache(maxsize=200_000)
def reading_of(path: str) -> str:
    """As what a file is read: its language, and for tests `-test` behind it. Few rules are heard in tests, which are
    half of many projects, so that little of a test has to be known."""
    language = language_of(path)
    return language + AS_TEST if language in PARSED and kind_of(path) is FileKind.TEST else language


def language_read(reading: str) -> str:
    """The language of a reading."""
    return reading.removesuffix(AS_TEST)


@lru_cache(maxsize=200_000)
def kind_of(path: str) -> FileKind:
    """What the path alone tells; `generated` by content is in the facts (`FileFacts.skipped`)."""
    for pattern, kind in _KINDS:
        found = pattern.search(path)
        if found is not None and not (kind is FileKind.VENDORED and _OF_PACKAGES in path[: found.start() + 1]):
            return kind
    return FileKind.SOURCE


def without_copies(paths: Collection[str]) -> list[str]:
    """The paths, sorted, without vendored files and libraries that were copied into the project: well-known ones of
    Python, all Python beside several of them, and what came with an installer's notes or a licence of its own."""
    copied = _copied_folders(paths)
    own = [path for path in sorted(paths) if kind_of(path) is not FileKind.VENDORED and not path.startswith(copied)]
    copies = {path for path in own if _is_copied(path)}
    libraries = {match.groups() for match in map(_LIBRARY.match, copies) if match is not None}
    counted = Counter(folder for folder, _ in libraries)
    folders = tuple(folder for folder, count in counted.items() if count >= _ENOUGH_COPIES)
    return [path for path in own if path not in copies and not (path.startswith(folders) and path.endswith(".py"))]


def _copied_folders(paths: Collection[str]) -> tuple[str, ...]:
    """Folders with what came with a library, each with a slash behind it; one with a manifest is a package of the
    project."""
    found = (_CAME_WITH.match(path) for path in paths if ".dist-info/" in path or "/LICEN" in path)
    folders = {f"{match[1] or match[2]}/" for match in found if match is not None}
    return tuple(each for each in folders if not any(each + name in paths for name in _MANIFESTS))


@lru_cache(maxsize=200_000)
def _is_copied(path: str) -> bool:
    return _COPIED.search(path) is not None


_KINDS = (
    (_VENDORED, FileKind.VENDORED),
    (_STUB, FileKind.STUB),
    (_GENERATED, FileKind.GENERATED),
    (_MIGRATION, FileKind.MIGRATION),
    (_TEST, FileKind.TEST),
    (_SCRIPT, FileKind.SCRIPT),
)
