"""Every page of a repository, light and dark: nothing stands in the way of anybody, and nothing sticks out."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import sign_in
from tests.providers.chromium import grave_barriers

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("served")]  # one running service for all

OPEN = ["/login", "/signup", "/forgot-password", "/reset-password?token=x", "/auth/callback?error=access_denied"]
SIGNED_IN = ["/", "/connect", "/orgs/new", "/invitations/some-token"]
OF_A_REPOSITORY = [
    "",
    "?trend=categories",
    "/violations",
    "/violations?file=nowhere.py",
    "/hotspots",
    "/architecture",
    "/architecture?module=shop",
    "/runs",
    "/settings",
    "/nothing-here",
]
NARROW = {"width": 390, "height": 844}


def test_no_page_has_grave_barriers_or_sticks_out_of_a_narrow_screen(visit, scanned):
    olga, repository = scanned
    page = visit("/login", viewport={"width": 1280, "height": 900})
    faults = {path: faults_of(page, path) for path in OPEN}
    page.goto("/login")
    sign_in(page, olga)
    for path in [*SIGNED_IN, *(f"/repos/{repository}{rest}" for rest in OF_A_REPOSITORY)]:
        faults[path] = faults_of(page, path)

    assert {path: found for path, found in faults.items() if found} == {}


def faults_of(page: Page, path: str) -> list[str]:
    page.goto(path)
    page.locator("h1").first.wait_for()
    page.locator(".skeleton").first.wait_for(state="detached")
    faults = grave_barriers(page)
    wide = page.viewport_size
    page.set_viewport_size(NARROW)
    if (beyond := page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
        faults.append(f"sticks out by {beyond} px at {NARROW['width']} px")
    page.set_viewport_size(wide)
    return faults


def test_long_names_stay_in_their_boxes(visit, enroll, on_plan):
    lina = enroll("Lina")
    name = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    organization = lina.call("POST", "/orgs", name=name, slug="lina")
    on_plan("pro", "lina")
    page = sign_in(visit("/login"), lina)

    page.get_by_label(f"Organization: {name}").click()
    page.get_by_role("link", name="New organization").wait_for()
    assert page.locator(".sidebar").evaluate("bar => bar.scrollWidth - bar.clientWidth") == 0

    page.goto(f"/orgs/{organization['id']}/members")
    page.get_by_role("button", name="Invite somebody").first.click()
    page.get_by_label("Email address").fill(f"{'a' * 60}@{'b' * 60}.example.org")
    page.get_by_role("button", name="Send the invitation").click()
    toast = page.locator(".toast", has_text="A letter is on its way").bounding_box()
    assert toast["x"] + toast["width"] <= page.viewport_size["width"]


def test_a_name_from_right_to_left_is_cut_at_its_end(visit, enroll):
    samira = enroll("Samira")
    name = "شركة البرمجيات المحدودة للتجارة العامة"
    samira.call("POST", "/orgs", name=name, slug="samira")

    page = sign_in(visit("/login"), samira)

    expect(page.locator(".sidebar summary .clip", has_text=name)).to_have_css("direction", "rtl")


def test_a_file_that_nobody_changes_is_no_hotspot_of_the_overview(visit, scanned):
    olga, repository = scanned
    overview = olga.call("GET", f"/api/repos/{repository}/overview")
    quiet = {"file": "shop/old.py", "complexity": 90, "churnCount": 0, "violationCount": 9, "riskScore": 20}
    page = sign_in(visit("/"), olga)
    changed = overview | {"topHotspots": [quiet]}
    page.route(f"**/api/repos/{repository}/overview", lambda route: route.fulfill(json=changed))

    page.goto(f"/repos/{repository}")

    expect(page.get_by_text("No file is both complex and often changed.")).to_be_visible()


def test_a_long_path_breaks_on_the_page_of_its_violation(visit, scanned):
    olga, repository = scanned
    found = olga.call("GET", f"/api/repos/{repository}/violations")["data"][0]
    page = sign_in(visit("/"), olga)
    long = found | {"file": f"{'shop/' * 4}{'unbounded_' * 8}.py"}
    page.route(f"**/v1/api/repos/{repository}/violations/{found['id']}", lambda route: route.fulfill(json=long))

    page.goto(f"/repos/{repository}/violations/{found['id']}")
    page.set_viewport_size(NARROW)

    expect(page.get_by_text(f"{long['file']}:{long['line']}")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_plan_that_was_given_is_not_said_to_be_too_small_for_credits(visit, scanned):
    olga, _ = scanned
    organization = olga.call("GET", "/orgs")[0]["id"]
    page = sign_in(visit("/"), olga)

    page.goto(f"/orgs/{organization}/credits")

    expect(page.get_by_role("heading", name="No credits yet")).to_be_visible()
    expect(page.get_by_role("link", name="See the plans")).to_have_count(0)


def test_a_plan_without_a_subscription_promises_no_credits(visit, enroll, on_plan):
    elsa = enroll("Elsa")
    organization = elsa.call("POST", "/orgs", name="Elsa", slug="elsa")["id"]
    on_plan("enterprise", "elsa")
    page = sign_in(visit("/"), elsa)

    page.goto(f"/orgs/{organization}/plan")

    expect(page.get_by_text("0 used, 0 left", exact=True)).to_be_visible()
    expect(page.get_by_text("1 of unlimited", exact=True)).to_be_visible()
    expect(page.get_by_text("0 of unlimited", exact=True)).to_have_count(1)  # repositories


@pytest.mark.parametrize(("deferred", "said"), [(True, "no"), (False, "in a cycle")])
def test_a_cycle_that_closes_only_inside_functions_is_none(visit, scanned, deferred, said):
    olga, repository = scanned
    graph = olga.call("GET", f"/api/repos/{repository}/architecture-graph")
    files = ["back/a.py", "front/b.py"]
    node = graph["nodes"][0]
    graph["nodes"] = [node | {"id": file, "label": file[-4:], "module": file[:-5]} for file in files]
    graph["modules"] = [{"name": file[:-5], "path": file[:-5], "nodeCount": 1, "violations": 0} for file in files]
    there = {"source": files[0], "target": files[1], "type": "import", "isViolation": False, "message": None}
    graph["edges"] = [there, there | {"source": files[1], "target": files[0]}]
    graph["cycles"] = [{"files": files, "modules": ["back", "front"], "edges": 2, "deferred": deferred, "cut": []}]
    page = sign_in(visit("/"), olga)
    page.route("**/architecture-graph", lambda route: route.fulfill(json=graph))

    page.goto(f"/repos/{repository}/architecture")

    expect(page.get_by_role("row", name="front").get_by_role("cell", name=said, exact=True)).to_be_visible()


def test_an_address_that_is_not_utf8_is_not_found(visit, enroll):
    page = visit("/login")
    sign_in(page, enroll("Petra"))

    page.goto("/packs/%E0%A4%A")

    expect(page.get_by_role("heading", name="Not found")).to_be_visible()


def test_a_refused_page_has_its_own_title_and_the_focus(visit, enroll, scanned):
    olga, repository = scanned
    page = sign_in(visit(f"/repos/{repository}"), olga)
    away = {"statusCode": 503, "message": "The database does not answer; try again", "error": "Service Unavailable"}
    page.route("**/hotspots?*", lambda route: route.fulfill(status=409, json={**away, "statusCode": 409}))

    page.get_by_role("link", name="Hotspots", exact=True).click()

    expect(page).to_have_title("Not possible right now · olga/shop · Technical debt")
    expect(page.get_by_role("main")).to_be_focused()


def test_trying_again_brings_back_what_stands_around_a_page(visit, scanned):
    olga, repository = scanned
    page = sign_in(visit("/"), olga)
    refused = {"statusCode": 429, "message": "Too many requests; try again in 90 seconds", "error": "Too Many Requests"}
    page.route(
        f"**/v1/api/repos/{repository}",
        lambda route: route.fulfill(status=429, json=refused, headers={"Retry-After": "90"}),
    )
    page.goto(f"/repos/{repository}/settings")
    expect(page.get_by_role("heading", name="Too many requests")).to_be_visible()

    page.unroute_all()
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("heading", name="olga/shop")).to_be_visible()
    expect(page.get_by_role("heading", name="Disconnect")).to_be_visible()


def test_a_page_past_the_end_of_a_list_is_its_last_one(visit, scanned):
    olga, repository = scanned
    page = sign_in(visit(f"/repos/{repository}/violations?page=9"), olga)
    expect(page.locator("summary", has_text="no time limit")).to_be_visible()

    page.goto(f"/repos/{repository}/runs?page=9")

    expect(page.get_by_role("cell", name="First scan")).to_be_visible()


def test_a_refusal_is_told_in_the_dialog_that_asked(visit, scanned):
    olga, repository = scanned
    page = sign_in(visit(f"/repos/{repository}/settings"), olga)
    refused = {"statusCode": 409, "message": "a scan is being stored; try again", "error": "Conflict"}
    page.route(f"**/api/repos/{repository}", lambda route: route.fulfill(status=409, json=refused))

    page.get_by_role("button", name="Disconnect").click()
    page.get_by_role("button", name="Disconnect and delete").click()

    expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text("A scan is being stored; try again")


def test_the_figures_of_the_overview_are_those_of_the_last_scan(visit, scanned):
    olga, repository = scanned
    now = olga.call("GET", f"/api/repos/{repository}/trends?period=30d")["debtScores"][-1]["score"]
    overview = olga.call("GET", f"/api/repos/{repository}/overview") | {"debtScoreAvg": now + 7}  # it was worse
    page = sign_in(visit("/"), olga)
    page.route(f"**/api/repos/{repository}/overview", lambda route: route.fulfill(json=overview))

    page.goto(f"/repos/{repository}")

    figure = page.locator(".stat", has_text="Debt per 1,000 lines").locator(".stat-value")
    expect(figure).to_have_text(f"{now:g} points")


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(59_700, "1 min 0 s"), (119_700, "2 min 0 s"), (83_000, "1 min 23 s"), (9_940, "9.9 s"), (12_400, "12 s")],
)
def test_no_time_has_sixty_seconds(visit, scanned, milliseconds, text):
    olga, repository = scanned
    page = sign_in(visit("/"), olga)
    runs = olga.call("GET", f"/api/repos/{repository}/runs")
    runs["data"][0]["durationMs"] = milliseconds
    page.route(f"**/api/repos/{repository}/runs", lambda route: route.fulfill(json=runs))

    page.goto(f"/repos/{repository}/runs")

    expect(page.get_by_role("cell", name=text, exact=True)).to_be_visible()


def test_a_violation_that_does_not_count_says_why_on_its_page(visit, scanned):
    olga, repository = scanned
    found = olga.call("GET", f"/api/repos/{repository}/violations")["data"][0]
    address = f"/api/repos/{repository}/violations/{found['id']}"
    shown = olga.call("GET", address) | {"status": "suppressed", "suppressionReason": "only used by hand"}
    page = sign_in(visit("/"), olga)
    page.route(f"**/v1{address}", lambda route: route.fulfill(json=shown))

    page.goto(address.removeprefix("/api"))

    expect(page.get_by_text("Suppressed", exact=True)).to_be_visible()
    expect(page.get_by_text("Does not count: only used by hand")).to_be_visible()


def test_the_files_at_the_root_of_a_repository_are_a_module_with_a_name(visit, scanned):
    olga, repository = scanned
    graph = olga.call("GET", f"/api/repos/{repository}/architecture-graph")
    node = graph["nodes"][0]
    files = {"app.py": ".", "shop/b.py": "shop"}
    graph["nodes"] = [node | {"id": file, "label": file, "module": module} for file, module in files.items()]
    graph["modules"] = [
        {"name": name, "path": path, "nodeCount": 1, "violations": 0} for name, path in ((".", ""), ("shop", "shop"))
    ]
    graph["edges"] = [
        {"source": "app.py", "target": "shop/b.py", "type": "import", "isViolation": False, "message": None}
    ]
    page = sign_in(visit("/"), olga)
    page.route("**/architecture-graph", lambda route: route.fulfill(json=graph))

    page.goto(f"/repos/{repository}/architecture?module=shop&chosen=module+.")
    expect(page.get_by_role("heading", name="(root)")).to_be_visible()
    expect(page.get_by_role("row", name="(root)").get_by_role("link", name="(root)")).to_be_visible()
    page.get_by_role("button", name="Open this module").click()

    expect(page.get_by_role("heading", name="(root)")).to_be_visible()
    expect(page).to_have_url(re.compile(r"module=\.$"))
    page.goto(f"/repos/{repository}/violations?module=.")
    expect(page.get_by_role("button", name="Remove the filter Module: (root)")).to_be_visible()
