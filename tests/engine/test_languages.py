"""What a path says about a file."""

import pytest

from analysis.engine.codebase import file_kind
from analysis.engine.extract import extract
from analysis.engine.languages import FileKind, kind_of, language_read, reading_of, without_copies


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("shop/models.py", FileKind.SOURCE),
        ("app/.server/orders.ts", FileKind.SOURCE),
        (".github/actions/check.js", FileKind.VENDORED),
        ("api/.semgrep/rules.py", FileKind.VENDORED),
        (".venv/lib/a.py", FileKind.VENDORED),
        ("web/.yarn/releases/yarn.js", FileKind.VENDORED),
        (".eslintrc.js", FileKind.SOURCE),
        ("public/plugins/codemirror-5.17.0/mode/lua/lua.js", FileKind.VENDORED),
        ("static/js/jquery-ui-timepicker.js", FileKind.VENDORED),
        ("static/js/jquery.tree.core.js", FileKind.VENDORED),
        ("static/js/query.tree.js", FileKind.SOURCE),
        ("src/main/resources/static/plugins/jquery/jquery.slim.js", FileKind.VENDORED),
        ("public/js/admin/lib/redactor.js", FileKind.VENDORED),
        ("src/js/jquery.js", FileKind.SOURCE),
        ("docs-site/static/js/swagger-ui.js", FileKind.VENDORED),
        ("docs-site/static/js/swagger-ui-bundle.js", FileKind.VENDORED),
        ("src/swagger-ui.js", FileKind.SOURCE),
        ("src/test-setup.ts", FileKind.TEST),
        ("shop/src/integrationTest/java/shop/Orders.java", FileKind.TEST),
        ("web/src/setupTests.js", FileKind.TEST),
        ("web/jest.setup.ts", FileKind.TEST),
        ("src/setup.ts", FileKind.SOURCE),
        ("e2e-test/action.go", FileKind.TEST),
        ("helpertest/http.go", FileKind.TEST),
        ("agent/agent_test_helpers.go", FileKind.TEST),
        ("service/question_hottest_service.go", FileKind.SOURCE),
        ("integration/e2eshop/client.go", FileKind.TEST),
        ("shop/tests_e2e/cart.py", FileKind.TEST),
        ("shop/mocks.py", FileKind.TEST),
        ("shop/mocks/providers.py", FileKind.TEST),
        ("apps/shop-e2e/src/cart.ts", FileKind.TEST),
        ("shop/migrations/versions/2025/01_14_1333_c48df7985d57_add.py", FileKind.MIGRATION),
        ("shop/utils/testing.py", FileKind.TEST),
        ("shop/pytest_plugin.py", FileKind.TEST),
        ("benches/bench_rows.py", FileKind.SCRIPT),
        ("packages/database/migration/20250812114145_add_ids/migration.ts", FileKind.MIGRATION),
        ("pkg/migration/20240603172746.go", FileKind.MIGRATION),
        ("store/deltas/20230516154000_drop_hashes.go", FileKind.MIGRATION),
        ("src/main/java/shop/migrations/v098/RenameRows.java", FileKind.MIGRATION),
        ("src/main/java/shop/migration/Plan.java", FileKind.SOURCE),
        ("src/main/java/shop/db/mysql/V1_5_4__RenameColumns.java", FileKind.MIGRATION),
        ("src/main/java/shop/V1__.java", FileKind.SOURCE),
        ("pkg/migration/run.go", FileKind.SOURCE),
        ("magefile.go", FileKind.SCRIPT),
        ("claude-tools/audit.js", FileKind.SCRIPT),
        ("web/lib/closure/goog/base.js", FileKind.VENDORED),
        ("web/menu/Menu.nocache.js", FileKind.GENERATED),
        ("web/python_test_utils/client.py", FileKind.TEST),
        ("master/contrib/check_mail.py", FileKind.SCRIPT),
        ("shop/contrib/orders/models.py", FileKind.SOURCE),
        ("contrib/internal/build_names.py", FileKind.SCRIPT),
        ("contrib/orders/models.py", FileKind.SOURCE),
        ("street/src/test-fixtures/java/org/shop/Rows.java", FileKind.TEST),
        ("scripts-dev/release.py", FileKind.SCRIPT),
        ("shop/migrations_old/0001_first.py", FileKind.MIGRATION),
        ("packages/schemas/changes/1.4.0-1715829731-rename-hooks.ts", FileKind.MIGRATION),
        ("db/changes/20240131120000_add_ids.js", FileKind.MIGRATION),
        ("src/reports/2024-01-annual-report.ts", FileKind.SOURCE),
        ("api/v1.2.0/orders.py", FileKind.SOURCE),
        ("t/unit/orders.py", FileKind.TEST),
        ("t/orders.py", FileKind.SOURCE),
        ("shop/migrations/0001_first.py", FileKind.MIGRATION),
        ("packages/db/migrations/20250922_orders.cjs", FileKind.MIGRATION),
        ("apps/shop/drizzle/0000_first_orders.sql", FileKind.MIGRATION),
        ("drizzle/20250922101500_orders/migration.sql", FileKind.MIGRATION),
        ("revisions/core/versions/2021-07-22_c0bc938b058e.py", FileKind.MIGRATION),
        ("app/versions/notes.py", FileKind.SOURCE),
        ("src/shop/migration/Version-1.0.2.js", FileKind.MIGRATION),
        ("src/upgrades/1.10.0/privileges.js", FileKind.MIGRATION),
        ("tools/test-speed.py", FileKind.TEST),
        ("packages/test-helpers/src/mail.ts", FileKind.TEST),
        ("shop-integration-test/shop-integration-test-common/src/main/java/Http.java", FileKind.TEST),
        ("integration-tests/helpers/orders.js", FileKind.TEST),
        ("integration/orders.js", FileKind.SOURCE),
        ("web/lib/all.bundle.js", FileKind.GENERATED),
        ("gui/public/codemirror/mode/tiki/tiki.js", FileKind.VENDORED),
        ("gui/public/editor/tiki.js", FileKind.SOURCE),
        ("admin/static/plugins/codemirror/lib/edit.js", FileKind.VENDORED),
        ("admin/static/js/jquery.tree.core.js", FileKind.VENDORED),
        ("admin/static/js/jquery-orders/orders.js", FileKind.SOURCE),
        ("web/proto/generated/orders.ts", FileKind.GENERATED),
        ("web/generated-orders.ts", FileKind.SOURCE),
        ("web/orders.clienttest.tsx", FileKind.TEST),
        ("web/orders.latest.ts", FileKind.SOURCE),
        ("web/src/assets/private/three.js", FileKind.VENDORED),
        ("web/src/chart.js", FileKind.SOURCE),
        ("shop/_vendor/dates.py", FileKind.VENDORED),
        ("shop/testing.py", FileKind.TEST),
        ("noxfile.py", FileKind.SCRIPT),
        ("tasks.py", FileKind.SOURCE),  # of Celery as likely as of a runner
        ("e2e-test/steps/cart.go", FileKind.TEST),
        ("shop/tasks.py", FileKind.SOURCE),
        ("db/_migrations/versions/sqlite/2024_05_21_123101_2ac65f1758c2_orders.py", FileKind.MIGRATION),
        ("packages/db/migration/20250103060634_add_orders/migration.ts", FileKind.MIGRATION),
        ("playwright_tests/pages/cart.py", FileKind.TEST),
        ("shop/ab_tests/choice.py", FileKind.SOURCE),
        ("web/vitest-e2e.setup.ts", FileKind.TEST),
        ("src/main/java/com/example/shop/Orders.java", FileKind.SOURCE),
        ("src/main/java/org/example/Orders.java", FileKind.SOURCE),
        ("src/main/java/dev/acme/Orders.java", FileKind.SOURCE),
        ("src/main/java/com/acme/dev/Orders.java", FileKind.SCRIPT),
        ("src/main/java/com/acme/tools/Orders.java", FileKind.SCRIPT),
        ("examples/src/main/java/com/example/shop/Orders.java", FileKind.SCRIPT),
        ("src/main/java/com/acme/vendor/Vendors.java", FileKind.SOURCE),
        ("vendor/src/main/java/com/acme/Vendors.java", FileKind.VENDORED),
    ],
)
def test_folders_of_tools_are_no_source_of_the_project(path, kind):
    assert kind_of(path) is kind


@pytest.mark.parametrize(
    ("path", "reading", "language"),
    [
        ("shop/orders.py", "python", "python"),
        ("tests/test_orders.py", "python-test", "python"),
        ("web/cart.spec.ts", "typescript-test", "typescript"),
        ("tests/rows.sql", "sql", "sql"),
        ("tests/readme.md", "text", "text"),
    ],
)
def test_code_of_tests_is_read_as_tests(path, reading, language):
    assert (reading_of(path), language_read(reading)) == (reading, language)


def test_copied_libraries_of_python():
    copies = ["lib/cherrypy/lib/sessions.py", "libs/common/dateutil/tz/tz.py", "lib/six.py"]
    own = ["lib/orders/requests.py", "lib/redis/client.py", "lib/requests.py"]
    assert without_copies([*copies, "vendor/a.py", *own]) == own


def test_a_folder_with_several_known_libraries_holds_copies():
    libraries = ["libs/six.py", "libs/pytz/tzinfo.py", "libs/requests/api.py"]
    assert without_copies([*libraries, "libs/dns/query.py", "libs/dns/query.js"]) == ["libs/dns/query.js"]
    assert without_copies([*libraries[1:], "libs/dns/query.py"]) == ["libs/dns/query.py"]


def test_go_code_that_tests_share_is_test_code():
    source = b'package a\n\nimport "testing"\n\nfunc Check(t *testing.T) {}\n'
    assert file_kind("a/scenario.go", extract(source, "go")) is FileKind.TEST
    assert file_kind("a/scenario.go", extract(source.replace(b"testing", b"time"), "go")) is FileKind.SOURCE


@pytest.mark.parametrize("framework", ["github.com/onsi/ginkgo/v2", "github.com/stretchr/testify/require"])
def test_go_code_that_is_written_with_a_framework_of_tests_is_test_code(framework):
    assert file_kind("a/folder.go", extract(f'package a\n\nimport "{framework}"\n'.encode(), "go")) is FileKind.TEST


@pytest.mark.parametrize(
    ("constraint", "kind"),
    [
        ("testing", FileKind.TEST),
        ("linux && testing", FileKind.TEST),
        ("test && !windows", FileKind.TEST),
        ("!testing", FileKind.SOURCE),
        ("linux || testing", FileKind.SOURCE),
        ("linux", FileKind.SOURCE),
    ],
)
def test_go_code_that_is_built_for_tests_alone_is_test_code(constraint, kind):
    source = f"// Copyright\n\n//go:build {constraint}\n\npackage a\n\nfunc Build() {{}}\n".encode()
    assert file_kind("a/build.go", extract(source, "go")) is kind


def test_a_go_package_that_is_called_after_the_one_it_tests_is_test_code():
    source = extract(b"package dbtest\n\nfunc Build() {}\n", "go")
    assert file_kind("a/db/dbtest/build.go", source) is FileKind.TEST
    assert file_kind("a/dbtest/build.go", source) is FileKind.SOURCE


def test_folders_of_copied_libraries_are_known_by_what_came_with_them():
    paths = ["libs/six-1.0.dist-info/METADATA", "libs/cart.py", "server/libs/rss/LICENSE", "server/libs/rss/a.js"]
    own = ["LICENSE", "lib/cart/LICENSE", "lib/cart/index.js", "lib/cart/package.json", "server/libs/a.js"]
    assert without_copies([*paths, *own]) == own


def test_python_that_needs_pytest_to_be_loaded_helps_tests():
    def kind(source: bytes) -> FileKind:
        return file_kind("shop/fixtures.py", extract(source, "python"))

    assert kind(b"import pytest\n") is FileKind.TEST
    assert kind(b"def check():\n    import pytest\n    pytest.main()\n") is FileKind.SOURCE
