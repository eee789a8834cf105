"""The rules about edges: layers, cycles, deep imports, frameworks in the domain."""

import pytest

from analysis.engine.extract import extract
from analysis.engine.facts import FileFacts, ImportFlag
from analysis.engine.languages import language_of
from analysis.engine.model import Severity
from analysis.engine.policy import Policy, Stack
from analysis.engine.rules import (
    arch_circular_import,
    arch_deep_import,
    arch_domain_imports_framework,
    arch_layer_violation,
)
from tests.engine.graph.project import codebase_of, deferred, facts_of, imported, passed_on, policy_of, type_only
from tests.engine.rules.reading import findings_of

LAYERS = policy_of("api=api/**", "service=service/**", "domain=domain/**")


def found(rule, files, policy=None):
    policy = policy or Policy()
    return list(rule.check(codebase_of(files, policy), policy))


class TestLayers:
    def layers(self, files, policy=LAYERS):
        return found(arch_layer_violation, files, policy)

    def test_upwards_is_a_violation_at_the_import(self):
        (finding,) = self.layers({"service/a.py": [imported("api.b", line=4)], "api/b.py": []})

        assert (finding.file, finding.line, finding.severity) == ("service/a.py", 4, None)
        assert finding.message == "Layer service may not import from layer api: `api/b.py`"

    def test_from_the_domain_it_is_critical(self):
        (finding,) = self.layers({"domain/a.py": ["api.b"], "api/b.py": []})

        assert finding.severity is Severity.CRITICAL

    def test_one_finding_per_file_and_layer_names_all_targets(self):
        files = {"domain/a.py": ["api.b", "api.c", "service.d"], "api/b.py": [], "api/c.py": [], "service/d.py": []}
        messages = [finding.message for finding in self.layers(files)]

        assert messages == [
            "Layer domain may not import from layer api: `api/b.py`, `api/c.py`",
            "Layer domain may not import from layer service: `service/d.py`",
        ]

    def test_in_go_the_package_is_named(self):
        facts = {
            "go.mod": "module a.example/shop\n",
            "api/types/order.go": "package types\n\ntype Order struct{}\n",
            "domain/a.go": 'package domain\n\nimport "a.example/shop/api/types"\n\nvar o types.Order\n',
        }
        files = {path: extract(text.encode(), language_of(path)) for path, text in facts.items()}
        (finding,) = self.layers(files)

        assert finding.message == "Layer domain may not import from layer api: `api/types`"

    def test_an_import_that_only_types_use_is_info(self):
        (finding,) = self.layers({"domain/a.ts": [imported("../api/b", flags=ImportFlag.ERASED)], "api/b.ts": []})

        assert finding.severity is Severity.INFO

    def test_a_type_only_import_is_info(self):
        (finding,) = self.layers({"domain/a.ts": [type_only("../api/b")], "api/b.ts": []})

        assert finding.severity is Severity.INFO

    @pytest.mark.parametrize(
        "files",
        [
            {"api/a.py": ["domain.b"], "domain/b.py": []},
            {"api/a.py": ["api.b"], "api/b.py": []},
            {"other/a.py": ["api.b"], "api/b.py": []},
            {"domain/a.py": ["other.b"], "other/b.py": []},
            {"domain/urls.py": ["api.b"], "api/b.py": []},
            {"domain/main.py": ["api.b"], "api/b.py": []},
            {"domain/tests/test_a.py": ["api.b"], "api/b.py": []},
            {"domain/run.py": facts_of("domain/run.py", ["api.b"], is_entry=True), "api/b.py": []},
        ],
    )
    def test_what_is_allowed(self, files):
        assert self.layers(files) == []

    def test_strict_layers_may_not_be_skipped(self):
        strict = policy_of("api=api/**", "service=service/**", "domain=domain/**", architecture="layered")

        assert len(self.layers({"api/a.py": ["domain.b"], "domain/b.py": []}, strict)) == 1


class TestCycles:
    def test_a_cycle_is_told_once_at_the_cheapest_edge(self):
        files = {"a.py": [imported("b", "x", "y")], "b.py": [imported("a", "z", line=3)]}
        (finding,) = found(arch_circular_import, files)

        assert (finding.file, finding.line, finding.severity, finding.excess) == ("b.py", 3, None, 1.0)
        assert finding.message == "`a.py`, `b.py` import each other in a circle; cut the import of `a.py`"

    def test_over_three_modules_it_is_critical(self):
        files = {"a/x.ts": ["../b/x"], "b/x.ts": ["../c/x"], "c/x.ts": ["../a/x"]}
        (finding,) = found(arch_circular_import, files)

        assert finding.severity is Severity.CRITICAL

    @pytest.mark.parametrize(
        ("packages", "classes", "severity"), [("ab", 1, None), ("abc", 1, Severity.CRITICAL), ("abc", 25, None)]
    )
    def test_between_java_packages_it_is_critical(self, packages, classes, severity):
        following = dict(zip(packages, packages[1:] + packages[:1], strict=True))
        files = {
            f"src/main/java/s/{package}/{package.upper()}{number}.java": [f"s.{after}.{after.upper()}{number}"]
            for package, after in following.items()
            for number in range(classes)
        }
        (finding,) = found(arch_circular_import, files)

        assert finding.severity is severity

    def test_deferred_imports_are_info(self):
        (finding,) = found(arch_circular_import, {"a.py": ["b"], "b.py": [deferred("a")]})

        assert finding.severity is Severity.INFO

    def test_a_file_that_imports_itself_inside_a_function_is_info(self):
        (finding,) = found(arch_circular_import, {"a.py": [deferred("a")]})

        assert finding.severity is Severity.INFO

    def test_a_file_that_imports_itself(self):
        (finding,) = found(arch_circular_import, {"a.ts": [imported("./a", line=5)]})

        assert (finding.line, finding.message) == (5, "`a.ts` imports itself")

    def test_the_identity_survives_moved_lines(self):
        one = found(arch_circular_import, {"a.py": ["b"], "b.py": ["a"]})
        other = found(arch_circular_import, {"a.py": [imported("b", line=8)], "b.py": [imported("a", line=9)]})

        assert one[0].anchor == other[0].anchor


BILLING = {"src/billing/index.ts": [passed_on("./invoice", "Invoice")], "src/billing/invoice.ts": []}


class TestDeepImports:
    def test_past_the_index_of_another_module(self):
        files = BILLING | {"src/orders/a.ts": [imported("../billing/invoice", line=2)]}
        (finding,) = found(arch_deep_import, files)

        assert (finding.file, finding.line) == ("src/orders/a.ts", 2)
        assert finding.suggestion == "Import from `src/billing/index.ts` and export what is needed there."

    def test_what_the_entry_offers_already_is_certain(self):
        asked = {"src/orders/a.ts": [imported("../billing/invoice", "Invoice")]}
        other = {"src/orders/a.ts": [imported("../billing/invoice", "Draft")]}

        assert [each.confidence for each in found(arch_deep_import, BILLING | asked)] == [None]
        assert [each.confidence for each in found(arch_deep_import, BILLING | other)] == ["medium"]

    def test_types_alone_are_worth_knowing(self):
        files = BILLING | {"src/orders/a.ts": [type_only("../billing/invoice")]}

        assert [(str(each.confidence), str(each.severity)) for each in found(arch_deep_import, files)] == [
            ("low", "info")
        ]

    def test_an_entry_that_others_come_in_by_is_a_border_for_all_of_the_module(self):
        files = BILLING | {"src/billing/store.ts": [], "src/orders/a.ts": ["../billing/store"]}
        users = {f"src/orders/{name}.ts": ["../billing"] for name in "bc"}

        assert found(arch_deep_import, files) == []
        assert [each.confidence for each in found(arch_deep_import, files | users)] == ["low"]

    @pytest.mark.parametrize(("through", "count"), [(9, 4), (4, 0)])
    def test_what_many_go_past_is_no_border(self, through, count):
        past = {f"src/orders/{name}.ts": [imported("../billing/invoice", "Invoice")] for name in "abcd"}
        users = {f"src/visits/v{number}.ts": ["../billing"] for number in range(through)}

        assert len(found(arch_deep_import, BILLING | past | users)) == count

    @pytest.mark.parametrize(("whole", "count"), [("src/index.ts", 0), ("src/visits/index.ts", 1)])
    def test_a_part_of_the_entry_of_the_whole_package_is_no_border_inside(self, whole, count):
        files = BILLING | {
            "src/orders/a.ts": [imported("../billing/invoice", "Invoice")],
            whole: [passed_on("./billing" if whole == "src/index.ts" else "../billing", "Invoice")],
        }
        assert [each.file for each in found(arch_deep_import, files)] == ["src/orders/a.ts"] * count

    def test_an_init_that_passes_on_names_of_one_module(self):
        files = {
            "billing/__init__.py": [imported("invoice", "bill", level=1)],
            "billing/invoice.py": [],
            "orders/__init__.py": [],
            "orders/a.py": [imported("billing.invoice", "bill")],
        }
        assert [finding.file for finding in found(arch_deep_import, files)] == ["orders/a.py"]

    def test_an_init_may_name_its_own_modules_in_full(self):
        files = {
            "shop/billing/__init__.py": [imported("shop.billing.invoice", "bill")],
            "shop/billing/invoice.py": [],
            "shop/orders/__init__.py": [],
            "shop/orders/a.py": [imported("shop.billing.invoice", "bill")],
        }
        assert [finding.file for finding in found(arch_deep_import, files)] == ["shop/orders/a.py"]

    @pytest.mark.parametrize(("beside", "count"), [("api", 1), ("web", 0)])
    def test_a_package_of_java_may_have_an_api(self, beside, count):
        files = {
            f"src/main/java/shop/billing/{beside}/Billing.java": [],
            "src/main/java/shop/billing/internal/Bill.java": [],
            "src/main/java/shop/orders/A.java": ["shop.billing.internal.Bill"],
        }
        assert len(found(arch_deep_import, files)) == count

    @pytest.mark.parametrize(
        ("entry", "declared", "user", "other", "is_told"),
        [
            ("package-info.java", [], "billing", "orders", False),
            ("package-info.java", ["org.springframework.modulith.ApplicationModule"], "billing", "orders", True),
            ("package-info.java", [], "orders", "orders", True),
            ("package-info.java", [], "billing", "billing", True),
            ("api/Billing.java", [], "billing", "orders", True),
        ],
    )
    def test_what_only_describes_a_package_of_java_guards_it_from_other_parts_of_the_build(
        self, entry, declared, user, other, is_told
    ):
        files = {
            f"billing/src/main/java/shop/billing/{entry}": declared,
            "billing/src/main/java/shop/billing/internal/Bill.java": [],
            f"{user}/src/main/java/shop/taxes/A.java": ["shop.billing.internal.Bill"],
            f"{other}/src/main/java/shop/orders/B.java": [],
        }
        assert len(found(arch_deep_import, files)) == is_told

    def test_nothing_is_imported_from_what_describes_a_package_of_java(self):
        files = {
            "src/main/java/shop/billing/package-info.java": [],
            "src/main/java/shop/billing/internal/Bill.java": [],
            "src/main/java/shop/orders/A.java": ["shop.billing.internal.Bill"],
        }
        assert [each.suggestion for each in found(arch_deep_import, files)] == [
            "Use what `billing` holds outside of its internal packages, or move there what others need."
        ]

    @pytest.mark.parametrize(
        ("index", "folder", "count"),
        [
            ("export function send(text) {}", "internal", 1),
            ("export function send(text) {}", "parts", 0),
            ("start();", "internal", 0),
        ],
    )
    def test_an_index_that_offers_its_own_beside_a_folder_that_is_internal(self, index, folder, count):
        inner = f"post/{folder}/paint"
        files = {
            "src/post/index.ts": extract(
                f"import {{ paint }} from './{folder}/paint';\n{index}\n".encode(), "typescript"
            ),
            f"src/{inner}.ts": extract(b"export function paint() {}\n", "typescript"),
            "src/bills/bill.ts": extract(f"import {{ paint }} from '../{inner}';\npaint();\n".encode(), "typescript"),
        }
        assert len(found(arch_deep_import, files)) == count

    def test_who_is_loaded_by_the_entry_cannot_go_through_it(self):
        files = {
            "billing/__init__.py": [imported("invoice", "bill", level=1), imported("tax", "rate", level=1)],
            "billing/invoice.py": ["orders.a"],
            "billing/tax.py": [],
            "orders/__init__.py": [],
            "orders/a.py": [imported("billing.tax", "rate")],
        }
        assert found(arch_deep_import, files) == []

    def test_a_private_module_of_another_package(self):
        files = {"a/__init__.py": [], "a/_inner.py": [], "b/__init__.py": [], "b/x.py": [imported("a._inner", "f")]}
        (finding,) = found(arch_deep_import, files)

        assert "`_inner` is private to `a`" in finding.message

    def test_what_many_share_is_private_to_all_of_them(self):
        users = {f"b/{name}.py": [imported("a._inner", "f")] for name in "vwxyz"}
        files = {"a/__init__.py": [], "a/_inner.py": [], "b/__init__.py": [], **users}

        assert found(arch_deep_import, files) == []

    def test_a_private_name_of_another_package(self):
        files = {"a/__init__.py": [], "a/m.py": [], "b/__init__.py": [], "b/x.py": [imported("a.m", "_secret")]}

        assert len(found(arch_deep_import, files)) == 1

    def test_the_sources_of_another_package_of_the_workspace(self):
        files = {
            "packages/ui/package.json": '{"name": "@x/ui"}',
            "packages/ui/src/deep.ts": [],
            "packages/app/package.json": '{"name": "@x/app"}',
            "packages/app/a.ts": ["@x/ui/src/deep"],
        }

        assert [finding.file for finding in found(arch_deep_import, files)] == ["packages/app/a.ts"]

    @pytest.mark.parametrize(
        ("users", "by_name", "count"),
        [
            ("ab", [], 2),
            ("abcd", [], 0),
            ("abcd", ["@x/api"], 4),
            ("abc", ["@x/api/src/orders"], 0),
            ("abcd", ["./other"], 0),
        ],
    )
    def test_a_package_that_nobody_imports_by_its_name_is_part_of_one_application(self, users, by_name, count):
        files = {
            "src/api/package.json": '{"name": "@x/api", "main": "src/index.ts"}',
            "src/api/src/index.ts": [],
            "src/api/src/orders.ts": [],
            "package.json": '{"name": "shop"}',
            "src/jobs/other.ts": [],
            "src/jobs/all.ts": by_name,
            **{f"src/jobs/{name}.ts": ["../api/src/orders"] for name in users},
        }

        assert len(found(arch_deep_import, files)) == count

    @pytest.mark.parametrize(
        ("target", "severity"),
        [("@x/saml/dist/typings", "info"), ("got/dist/source/types", "info"), ("x/dist/a", None)],
    )
    def test_the_types_of_a_third_party_package(self, target, severity):
        (finding,) = found(arch_deep_import, {"a.ts": [target]})

        assert (finding.confidence, finding.severity) == ("low", severity)

    @pytest.mark.parametrize(
        "files",
        [
            {"a.py": ["requests._internal_utils"]},
            {"a.ts": ["next/dist/server/x"]},
            {"src/main/java/s/A.java": ["com.lib.internal.Thing"]},
            {"src/main/java/s/A.java": ["sun.misc.Unsafe"]},
        ],
    )
    def test_the_inside_of_a_third_party_package(self, files):
        assert len(found(arch_deep_import, files)) == 1

    @pytest.mark.parametrize(
        "files",
        [
            {"src/main/java/org/shop/A.java": ["org.shop.lib.internal.Thing"]},
            BILLING | {"src/orders/a.ts": ["../billing"]},
            BILLING | {"src/billing/other.ts": ["./invoice"]},
            BILLING | {"src/orders/a.test.ts": ["../billing/invoice"]},
            {"src/billing/invoice.ts": [], "src/orders/a.ts": ["../billing/invoice"]},
            {"a.ts": ["lodash/get", "@scope/pkg/sub", "./x.css", "highlighter/dist/cjs/styles/prism"]},
            {"a.ts": ["calendar/dist/l10n", "plotter/dist/plugins/plotter.bars", "x/dist/entry.bare"]},
            {"a.py": ["django.db.models", imported("__future__", "annotations")]},
            {"a/__init__.py": [], "a/_inner.py": [], "a/x.py": [imported("_inner", "f", level=1)]},
            BILLING | {f"src/orders/{name}.ts": ["../billing/invoice"] for name in "abc"},
            {
                "packages/ui/package.json": '{"name": "@x/ui", "exports": {"./dist/forms": "./src/forms.ts"}}',
                "packages/ui/src/forms.ts": [],
                "packages/app/package.json": '{"name": "@x/app"}',
                "packages/app/a.ts": ["@x/ui/dist/forms"],
            },
            {"go.mod": "module m\n", "a/internal/x/x.go": [], "a/a.go": ["m/a/internal/x"]},
            BILLING | {"src/index.client.ts": [passed_on("./billing/invoice", "Invoice")]},
            {"site/a.js": ["@site/src/components/Banner"]},
            {"src/main/java/com/lib/web/A.java": ["com.lib.internal.Thing"]},
            {"a.ts": ["gallery/dist/gallery-native", "socket-client/dist/socket.min.js"]},
            {"oidc/provider-internals.ts": ["provider/lib/helpers/weak"]},
            {"src/main/java/s/A.java": ["com.alipay.api.internal.util.AlipaySignature"]},
            {"a.ts": ["ajv/dist/2020", "ajv/dist/jtd.js"]},
            {"a.py": [imported("lxml.etree", "_Element"), imported("slowapi", "_rate_limit_exceeded_handler")]},
        ],
    )
    def test_what_is_allowed(self, files):
        assert found(arch_deep_import, files) == []


class TestFrameworksInTheDomain:
    @pytest.mark.parametrize(
        "files",
        [{"domain/a.go": ["database/sql/driver"]}, {"domain/a.go": ["go.mongodb.org/mongo-driver/bson/primitive"]}],
    )
    def test_types_of_columns_reach_nothing(self, files):
        assert found(arch_domain_imports_framework, files, LAYERS) == []

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            ({"domain/a.py": [imported("flask", "g")]}, "The domain imports the web framework `flask`"),
            ({"domain/a.py": ["sqlalchemy.orm"]}, "The domain imports the ORM `sqlalchemy.orm`"),
            ({"domain/a.ts": ["@aws-sdk/client-s3"]}, "The domain imports the cloud SDK `@aws-sdk/client-s3`"),
            ({"domain/a.ts": ["ioredis"]}, "The domain imports the cache client `ioredis`"),
            ({"domain/a.go": ["net/http"]}, "The domain imports the HTTP client `net/http`"),
            (
                {"domain/A.java": ["org.springframework.web.bind.annotation.GetMapping"]},
                "The domain imports the web framework `org.springframework.web.bind.annotation.GetMapping`",
            ),
        ],
    )
    def test_frameworks_are_told_by_kind(self, files, message):
        assert [finding.message for finding in found(arch_domain_imports_framework, files, LAYERS)] == [message]

    def test_persistence_annotations_are_info(self):
        (finding,) = found(arch_domain_imports_framework, {"domain/A.java": ["jakarta.persistence.Entity"]}, LAYERS)

        assert finding.severity is Severity.INFO

    def test_moments_of_a_database_are_no_orm(self):
        assert found(arch_domain_imports_framework, {"domain/A.java": ["java.sql.Timestamp"]}, LAYERS) == []
        assert len(found(arch_domain_imports_framework, {"domain/A.java": ["java.sql.Connection"]}, LAYERS)) == 1

    @pytest.mark.parametrize(
        ("used", "count"),
        [
            ("http.StatusNotFound", 0),
            ("http.StatusText(http.StatusNotFound)", 0),
            ("http.Get(address)", 1),
            ("http.StatusNotFound + len(http.DefaultClient.Jar)", 1),
        ],
    )
    def test_values_of_the_standard_library_of_go(self, used, count):
        source = f'package domain\n\nimport "net/http"\n\nvar a = {used}\n'
        files = {"domain/a.go": extract(source.encode(), "go")}

        assert len(found(arch_domain_imports_framework, files, LAYERS)) == count

    @pytest.mark.parametrize(
        ("path", "target", "confidence"),
        [
            ("domain/a.go", "net/http", "medium"),
            ("domain/a.go", "github.com/gin-gonic/gin", None),
            ("domain/A.java", "java.sql.Connection", "medium"),
        ],
    )
    def test_the_standard_library_is_a_matter_of_taste(self, path, target, confidence):
        (finding,) = found(arch_domain_imports_framework, {path: [target]}, LAYERS)

        assert finding.confidence == confidence

    def test_one_finding_per_file_and_package(self):
        files = {"domain/a.py": ["flask.views", "flask.json"]}

        assert len(found(arch_domain_imports_framework, files, LAYERS)) == 1

    def test_a_folder_named_domain_counts_in_an_inward_architecture(self):
        files = {"src/domain/a.py": ["flask"]}

        assert len(found(arch_domain_imports_framework, files, Policy(architecture="hexagonal"))) == 1
        assert found(arch_domain_imports_framework, files) == []

    @pytest.mark.parametrize(
        "target",
        [
            "decimal",
            "pydantic",
            "datetime",
            "dataclasses",
            "flaskish",
            "django.core.validators",
            "django.utils.timezone",
        ],
    )
    def test_what_is_allowed(self, target):
        assert found(arch_domain_imports_framework, {"domain/a.py": [target]}, LAYERS) == []

    @pytest.mark.parametrize(
        "target", ["org.springframework.stereotype.Component", "org.springframework.beans.factory.annotation.Autowired"]
    )
    def test_annotations_of_a_container_are_info(self, target):
        (finding,) = found(arch_domain_imports_framework, {"domain/A.java": [target]}, LAYERS)

        assert finding.severity is Severity.INFO

    @pytest.mark.parametrize(
        ("target", "severities"),
        [
            ("org.springframework.util.Assert", []),
            ("org.springframework.lang.Nullable", []),
            ("org.hibernate.annotations.GenericGenerator", [Severity.INFO]),
            ("org.springframework.data.annotation.Id", [Severity.INFO]),
            ("org.springframework.web.bind.annotation.GetMapping", [None]),
            ("org.hibernate.Session", [None]),
        ],
    )
    def test_utilities_and_annotations_of_java(self, target, severities):
        told = found(arch_domain_imports_framework, {"domain/A.java": [target]}, LAYERS)

        assert [finding.severity for finding in told] == severities

    def test_what_stands_in_another_layer_is_no_domain(self):
        policy = policy_of("handlers=api/**", architecture="clean")

        assert found(arch_domain_imports_framework, {"api/models/a.go": ["net/http"]}, policy) == []
        assert len(found(arch_domain_imports_framework, {"core/models/a.go": ["net/http"]}, policy)) == 1

    @pytest.mark.parametrize(
        ("target", "count"),
        [("django.utils.translation", 0), ("django.urls", 0), ("django.contrib.sites.models", 0), ("django.http", 1)],
    )
    def test_what_rows_of_django_need_is_allowed_beside_them(self, target, count):
        policy = policy_of("models=domain/**", stack=Stack(framework="django"))

        assert len(found(arch_domain_imports_framework, {"domain/models.py": [target]}, policy)) == count
        assert len(found(arch_domain_imports_framework, {"domain/models.py": [target]}, LAYERS)) == count
        inward = policy_of("models=domain/**", architecture="hexagonal")
        assert len(found(arch_domain_imports_framework, {"domain/models.py": [target]}, inward)) == 1

    def test_the_orm_is_allowed_where_models_are_active_records(self):
        policy = policy_of("domain=domain/**", stack=Stack(framework="django"))
        files = {"domain/models.py": [imported("django.db", "models")]}

        assert found(arch_domain_imports_framework, files, policy) == []
        assert len(found(arch_domain_imports_framework, files, LAYERS)) == 1

    @pytest.mark.parametrize(("architecture", "count"), [("", 0), ("hexagonal", 1)])
    def test_the_orm_is_allowed_in_every_file_of_models_where_django_keeps_rows(self, architecture, count):
        row = "from django.db import models\n\n\nclass Order(models.Model):\n    paid = models.BooleanField()\n"
        files = {"orders/models.py": extract(row.encode(), "python"), "domain/models.py": ["django.db"]}
        policy = policy_of("domain=domain/**", architecture=architecture)

        assert len(found(arch_domain_imports_framework, files, policy)) == count

    def test_the_orm_is_allowed_in_the_folder_of_its_own_models(self):
        model = 'package model\n\ntype Order struct {\n\tID int `gorm:"primaryKey"`\n}\n'
        store = 'package model\n\nimport "gorm.io/gorm"\n\nvar db *gorm.DB\n'
        files = {
            path: extract(text.encode(), "go") for path, text in {"model/a.go": model, "model/db.go": store}.items()
        }

        assert found(arch_domain_imports_framework, files, policy_of("model=model/**")) == []
        assert len(found(arch_domain_imports_framework, files, policy_of("domain=model/**"))) == 1
        inward = policy_of("model=model/**", architecture="hexagonal")
        assert len(found(arch_domain_imports_framework, files, inward)) == 1

    def test_other_layers_may_import_frameworks(self):
        assert found(arch_domain_imports_framework, {"api/a.py": ["flask"], "x.sql": FileFacts("sql")}, LAYERS) == []


def test_what_is_internal_to_a_folder_with_an_entry():
    files = {
        "src/modules/billing/index.ts": "export { charge } from './charge';",
        "src/modules/billing/charge.ts": "import { round } from './internal/round';\nexport const charge = round;",
        "src/modules/billing/internal/round.ts": "export const round = 1;",
        "src/modules/orders/place.ts": "import { round } from '../billing/internal/round';\nround();",
    }
    (finding,) = findings_of("arch-deep-import", files)
    assert (finding.file, finding.line) == ("src/modules/orders/place.ts", 1)
    assert "public entry of `billing`" in finding.message
    del files["src/modules/billing/index.ts"]
    assert findings_of("arch-deep-import", files) == []


@pytest.mark.parametrize(("inner", "count"), [("rates/index", 0), ("rates/all", 1)])
def test_a_folder_below_with_an_entry_of_its_own_is_public(inner, count):
    files = {
        "src/billing/index.ts": "export { charge } from './charge';",
        "src/billing/charge.ts": "export const charge = 1;",
        f"src/billing/{inner}.ts": "export const rate = 1;",
        "src/orders/place.ts": f"import {{ rate }} from '../billing/{inner}';\nrate();",
    }
    for name in "abcd":
        files[f"src/{name}/use.ts"] = "import { charge } from '../billing';\ncharge();"
    assert len(findings_of("arch-deep-import", files)) == count


def test_an_internal_folder_is_one_whoever_goes_past_the_entry():
    files = {
        "src/modules/billing/index.ts": "export { charge } from './charge';",
        "src/modules/billing/charge.ts": "export const charge = 1;\nexport const rate = 2;",
        "src/modules/billing/internal/round.ts": "export const round = 1;",
        "src/modules/orders/place.ts": "import { round } from '../billing/internal/round';\nround();",
    }
    for name in "abcd":
        files[f"src/modules/{name}/use.ts"] = "import { rate } from '../billing/charge';\nrate();"
    assert [each.file for each in findings_of("arch-deep-import", files)] == ["src/modules/orders/place.ts"]


@pytest.mark.parametrize(
    ("target", "count"),
    [("axios/lib/core/settle", 1), ("highlight.js/lib/core", 0), ("antd/lib/button", 0), ("@a/b/lib/internal/x", 1)],
)
def test_the_inside_of_what_a_package_has_built(target, count):
    assert len(findings_of("arch-deep-import", {"src/a.ts": f"import x from '{target}';\nx();\n"})) == count


@pytest.mark.parametrize(("base", "count"), [("InjectorFactory", 0), ("Runnable", 1)])
def test_what_a_library_asks_others_to_implement(base, count):
    source = "import org.lib.internal.inject.{0};\nclass Bridge implements {1} {{\n  {0} made;\n}}\n"
    files = {"src/main/java/shop/Bridge.java": source.format("InjectorFactory", base)}
    assert len(findings_of("arch-deep-import", files)) == count


@pytest.mark.parametrize(
    ("base", "given", "count"), [("Listener", "Rates", 0), ("Listener", "int", 1), ("", "Rates", 1)]
)
def test_what_the_constructor_of_a_library_class_is_given(base, given, count):
    source = (
        "import org.lib.inner.internal.Rates;\nimport org.lib.event.Listener;\n"
        f"class Bridge {'extends ' + base if base else ''} {{\n  Bridge({given} given) {{\n    super(given);\n  }}\n"
        "  Rates made;\n}\n"
    )
    assert len(findings_of("arch-deep-import", {"src/main/java/shop/Bridge.java": source})) == count


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("constructor(private readonly config: Config<Rates, true>) {}", ("low", "info")),
        ("constructor(private readonly rates: Rates) {}", ("high", "warning")),
    ],
)
def test_an_import_of_types_that_does_not_say_so(use, told):
    files = {
        "src/billing/index.ts": "export * from './rates';",
        "src/billing/rates.ts": "export class Rates {}",
        "src/orders/place.ts": "import { Rates } from '../billing/rates';\n@Injectable()\n"
        f"export class Place {{\n  {use}\n}}\n",
    }
    (finding,) = findings_of("arch-deep-import", files)
    assert (str(finding.confidence), str(finding.severity)) == told


@pytest.mark.parametrize(("folder", "count"), [("billing", 1), ("types", 0), ("interfaces", 0)])
def test_a_folder_of_types_is_there_for_whoever_needs_one(folder, count):
    users = {f"src/pages/page{n}.ts": f"import {{ Rate }} from '../{folder}';\nexport const a = 1;" for n in range(4)}
    files = {
        f"src/{folder}/index.ts": "export * from './rates';",
        f"src/{folder}/rates.ts": "export interface Rate { value: number }",
        "src/visits/visit.ts": f"import type {{ Rate }} from '../{folder}/rates';\nexport const a = (r: Rate) => r;",
        **users,
    }
    assert len(findings_of("arch-deep-import", files)) == count
