import pytest

from analysis.engine.facts import FileFacts
from analysis.engine.policy import Stack
from analysis.engine.stack import StackDetector, detect_stack
from tests.engine.graph.project import files_of

CASES = {
    "Django by its requirements": (
        {"requirements.txt": "Django==5.2\n", "app/models.py": []},
        Stack("django", "django", "python", "python"),
    ),
    "FastAPI with SQLAlchemy by imports": (
        {"main.py": ["fastapi", "sqlalchemy.orm"]},
        Stack("fastapi", "sqlalchemy", "python", "python"),
    ),
    "Nest before the Express below it": (
        {"package.json": '{"dependencies": {"@nestjs/core": "1", "express": "5", "typeorm": "1"}}', "a.ts": []},
        Stack("nestjs", "typeorm", "typescript", "node"),
    ),
    "Next with Drizzle": (
        {"package.json": '{"dependencies": {"next": "14", "drizzle-orm": "1"}}', "a.ts": []},
        Stack("nextjs", "drizzle", "typescript", "node"),
    ),
    "Express in plain JavaScript": (
        {"package.json": '{"dependencies": {"express": "5"}}', "a.js": []},
        Stack("express", "", "javascript", "node"),
    ),
    "Spring Boot with JPA": (
        {"src/main/java/a/A.java": ["org.springframework.boot.SpringApplication", "jakarta.persistence.Entity"]},
        Stack("spring-boot", "jpa", "java", "jvm"),
    ),
    "Go with gin and GORM": (
        {"go.mod": "module m\nrequire github.com/gin-gonic/gin v1\nrequire gorm.io/gorm v1\n", "a.go": []},
        Stack("gin", "gorm", "go", "go"),
    ),
    "a library in tests is none of the stack": (
        {"a.py": [], "tests/test_a.py": ["django"]},
        Stack("", "", "python", "python"),
    ),
    "nothing known": ({"README.md": FileFacts(language="text")}, Stack()),
}


@pytest.mark.parametrize(("files", "stack"), CASES.values(), ids=CASES.keys())
def test_the_stack_is_told_by_manifests_and_imports(files, stack):
    assert detect_stack(files_of(files)) == stack


def test_one_detector_tells_each_of_several_states():
    detector = StackDetector()
    for files, stack in [*CASES.values(), *reversed(CASES.values())]:
        assert detector.detect(files_of(files)) == stack
