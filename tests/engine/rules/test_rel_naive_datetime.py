import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-naive-datetime"

FLAGGED = [
    "import datetime\ndatetime.datetime.now()",
    "from datetime import datetime\ndatetime.now()",
    "from datetime import datetime\ndatetime.utcnow()",
    "from datetime import datetime\ndatetime.today()",
    "from datetime import datetime as dt\ndt.fromtimestamp(x)",
    "from datetime import datetime\ndatetime.utcfromtimestamp(x)",
    "from datetime import datetime\ndatetime(2024, 1, 1)",
    "from datetime import datetime\ny = datetime.strptime(x, '%Y-%m-%d')",
    "from datetime import date\ndate.today()",
]
FINE = [
    "from datetime import datetime, timezone\ndatetime.now(timezone.utc)",
    "from datetime import datetime\ndatetime.now(tz=zone)",
    "from datetime import datetime, UTC\ndatetime.fromtimestamp(x, UTC)",
    "from datetime import datetime\ndatetime.now().astimezone()",
    "from datetime import datetime\ndatetime.utcnow().replace(tzinfo=utc)",
    "from datetime import datetime\ndatetime.strptime(x, '%Y %z')",
    "from datetime import datetime\ndatetime.strptime(x, '%Y').replace(tzinfo=utc)",
    "from datetime import datetime\ndatetime.strptime(x, '%Y-%m-%d').date()",
    "from datetime import datetime\nmake_aware(datetime(2024, 1, 1))",
    "from datetime import datetime\nx = make_utc(datetime.utcfromtimestamp(y))",
    "from datetime import datetime\ndatetime(2024, 1, 1, tzinfo=utc)",
    "from datetime import datetime\ndatetime(2024, 1, 1, 0, 0, 0, 0, utc)",
    "from datetime import datetime\ndatetime(*parts)",
    "from datetime import datetime\ndatetime.min",
    "from django.utils import timezone\ntimezone.now()",
    "from datetime import datetime\ndatetime.now().timestamp()",
    "from datetime import datetime\nname = datetime.now().strftime('%Y%m%d')",
    "from datetime import datetime\ndatetime.strptime(x, '%d.%m.%Y').strftime('%Y-%m-%d')",
    "from datetime import datetime\nstarted = datetime.now()\nwork()\ntook = datetime.now() - started",
    "from datetime import datetime\nfile_name = datetime.now().isoformat()",
    "from datetime import datetime\ncheck(datetime(2000, 1, 1))",
    "clock.now()",
    "from datetime import datetime\ndef _make_naive(m): return datetime(m.year, m.month, m.day)",
    "from datetime import datetime\nx = datetime(a, b, c)  # naive on purpose",
    "from datetime import datetime\ndef read_no_tz(x): return x - datetime.now()",
    "from datetime import datetime\nx = make_aware(\n    value=datetime.fromtimestamp(y)\n)",
    "from datetime import datetime\nspan = datetime.now() - datetime.fromtimestamp(x)",
    "from datetime import datetime\nempty = datetime(1970, 1, 1)\nx = make_aware(parse(y, default=empty))",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_times_without_a_zone_are_marked(source):
    assert lines_of(RULE, source) == [2]


@pytest.mark.parametrize("source", FINE)
def test_times_with_a_zone_are_fine(source):
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize(
    ("statement", "severity"),
    [
        ("expires = datetime.now()", "warning"),
        ("if datetime.now() > order.end: pass", "warning"),
        ("created = datetime(2024, 1, 1)", "warning"),
        ("x = datetime.now()", ""),
        ("log.info('expires %s', datetime.now())", ""),
        ("def f() -> str:\n    return str(datetime.now())", ""),
    ],
)
def test_it_is_a_warning_where_the_instant_decides_something(statement, severity):
    (mark,) = marks_of(RULE, f"from datetime import datetime\n{statement}")
    assert mark.severity == severity


def test_java():
    imports = "import java.time.LocalDateTime;\nimport java.text.SimpleDateFormat;\nclass A { void f() {\n"
    assert lines_of(RULE, imports + "LocalDateTime.now(); } }", "java") == [4]
    assert lines_of(RULE, imports + "LocalDateTime.now(zone); } }", "java") == []
    assert lines_of(RULE, imports + "show(LocalDateTime.now().format(f)); } }", "java") == []
    assert lines_of(RULE, imports + "z = ZoneId.systemDefault(); d = LocalDateTime.now(); } }", "java") == []
    assert lines_of(RULE, imports + "text.append(LocalDateTime.now()); } }", "java") == []
    assert lines_of(RULE, imports + 'new SimpleDateFormat("yyyy HH"); } }', "java") == [4]
    assert lines_of(RULE, imports + 'new SimpleDateFormat("yyyyMMdd"); } }', "java") == []
    assert lines_of(RULE, imports + 'var f = new SimpleDateFormat("HH"); f.setTimeZone(utc); } }', "java") == []


def test_script():
    assert lines_of(RULE, "const d = new Date('2024-01-01T10:00:00')", "typescript") == [1]
    assert lines_of(RULE, "const d = new Date('2024-01-01T10:00:00Z')", "typescript") == []
    assert lines_of(RULE, "const d = new Date('2024-01-01')", "typescript") == []
    assert lines_of(RULE, "const d = new Date()", "typescript") == []


def test_go():
    head = 'package a\nimport "time"\n'
    assert lines_of(RULE, head + "var d = time.Date(2024, 1, 1, 0, 0, 0, 0, nil)", "go") == [3]
    assert lines_of(RULE, head + "var d = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)", "go") == []


def test_a_java_date_that_is_kept_is_worth_knowing():
    source = "import java.util.Date;\nclass A { void f(Order order) {\norder.%s;\n} }"
    (mark,) = marks_of(RULE, source % "setCreatedAt(new Date())", "java")
    assert (mark.line, mark.severity, mark.confidence) == (3, "info", "low")
    assert lines_of(RULE, source % "setCreatedAt(new Date(seconds))", "java") == []
    assert lines_of(RULE, source % "add(new Date())", "java") == []


def test_a_zone_is_given_to_one_format_only():
    source = (
        "import java.text.SimpleDateFormat;\nclass A { void f() {\n"
        'SimpleDateFormat a = new SimpleDateFormat("yyyy-MM-dd HH:mm");\n'
        'SimpleDateFormat b = new SimpleDateFormat("yyyy-MM-dd HH:mm");\nb.setTimeZone(zone);\n} }'
    )
    assert lines_of(RULE, source, "java") == [3]


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        ("Order.objects.filter(created__gt=now)", "warning"),
        ("Order.objects.update(checked_at=now)", "warning"),
        ("print(now)", ""),
        ("show(now)", ""),
    ],
)
def test_what_is_stored_or_compared_by_way_of_a_variable_matters(use, severity):
    source = f"from datetime import datetime\n\n\ndef f():\n    now = datetime.utcnow()\n    {use}\n"
    (mark,) = marks_of(RULE, source)
    assert mark.severity == severity


@pytest.mark.parametrize(("use", "lines"), [("datetime.now() - self.started", []), ("self.started", [6])])
def test_how_long_an_object_lives_needs_no_zone(use, lines):
    source = (
        "from datetime import datetime\n\n\nclass Run:\n    def __init__(self):\n"
        "        self.started = datetime.now()\n\n"
        f"    def age(self):\n        return {use}\n"
    )
    assert [line for line in lines_of(RULE, source) if line == 6] == lines


def test_a_time_of_the_day_has_no_zone():
    source = "from datetime import datetime\nunlock_at = datetime.strptime(a, '%s')\n"
    assert lines_of(RULE, source % "%H:%M") == []
    assert lines_of(RULE, source % "%Y-%m-%d %H:%M") == [2]


def test_what_the_call_is_given_says_nothing_of_what_becomes_of_it():
    source = "from datetime import datetime\nshow(datetime.fromtimestamp(row.created))\n"
    (mark,) = marks_of(RULE, source)
    assert mark.severity == ""
    (mark,) = marks_of(RULE, source.replace("show(", "row.save(created="))
    assert mark.severity == "warning"


def test_a_text_of_the_time_in_utc_is_right():
    source = "from datetime import datetime\nname = datetime.utcnow()%s\n"
    assert lines_of(RULE, source % ".strftime('%Y')") == []
    assert lines_of(RULE, source % "") == [2]


def test_two_clocks_give_no_span():
    source = "from datetime import datetime\nspan = datetime.utcnow() - datetime.fromtimestamp(x)"
    assert lines_of(RULE, source) == [2, 2]


def test_a_variable_that_is_compared_matters():
    source = "from datetime import datetime\ndef f(end):\n    x = datetime.utcnow()\n    return x %s end"
    (compared,), (other,) = (marks_of(RULE, source % sign) for sign in (">=", "-"))
    assert (compared.severity, other.severity) == ("warning", "")


@pytest.mark.parametrize(("use", "lines"), [("set(expires=x.strftime(f))", []), ("set(expires=x)", [3])])
def test_utc_that_is_only_written_as_a_text(use, lines):
    source = f"from datetime import datetime\ndef f():\n    x = datetime.utcnow() + week\n    {use}\n"
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return started.until(LocalDateTime.now(), ChronoUnit.MILLIS);", 0),
        ("return Duration.between(started, LocalDateTime.now());", 0),
        ("LocalDateTime begin = LocalDateTime.now(); run(); record(begin.until(end, MILLIS));", 0),
        ('return String.format("%s", Dates.formatFull(LocalDateTime.now()));', 0),
        ("row.setAt(LocalDateTime.now());", 1),
    ],
)
def test_time_spans_and_texts_of_java(body, count):
    source = f"import java.time.LocalDateTime;\nclass A {{ Object f() {{ {body} }} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("statement", "confidence"), [("x = datetime.now()", "low"), ("created = datetime.now()", "")])
def test_what_becomes_of_other_times_is_not_known(statement, confidence):
    assert [each.confidence for each in marks_of(RULE, f"from datetime import datetime\n{statement}")] == [confidence]


@pytest.mark.parametrize(
    ("value", "confidence"),
    [("{ at: new Date('2025-01-03T10:00:00') }", "low"), ("new Date('2025-01-03T10:00:00')", "low")],
)
def test_a_time_that_is_not_compared_is_mostly_an_example(value, confidence):
    assert [each.confidence for each in marks_of(RULE, f"const row = {value};", "typescript")] == [confidence]


def test_what_stands_below_a_condition_says_nothing_of_it():
    source = "from datetime import datetime\nif row.seen < datetime.now() - OLD:\n    # not logged in\n    stop()\n"
    assert [each.severity for each in marks_of(RULE, source)] == ["warning"]


def test_a_time_that_is_asked_whether_it_is_later_is_compared():
    body = "var now = LocalDateTime.now();\nreturn row.end.isAfter(now);"
    source = f"import java.time.LocalDateTime;\nclass A {{ boolean f(Row row) {{ {body} }} }}"
    assert [each.severity for each in marks_of(RULE, source, "java")] == ["warning"]


def test_a_member_that_is_a_date_is_stored():
    source = "from datetime import datetime\ndef f(self):\n    self.activation_date = datetime.utcnow()\n"
    assert [each.severity for each in marks_of(RULE, source)] == ["warning"]


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("x = date.today().strftime('%d')", 0),
        ("datetime.strptime(text, '%Y-%m-%d')", 0),
        ("x = datetime.strptime(text, '%Y-%m-%d')", 1),
        ("never = datetime(1900, 1, 1)", 0),
        ("start = datetime(year=a.year, month=a.month, day=1)", 1),
        ("start = datetime(2024, 1, 1)", 1),
    ],
)
def test_texts_checks_and_times_that_stand_for_none(statement, count):
    assert len(lines_of(RULE, f"from datetime import date, datetime\n{statement}\n")) == count


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("x = get_formatted_date(datetime.fromtimestamp(t))", 0),
        ("x = datetime.utcfromtimestamp(t).isoformat()[:19] + 'Z'", 0),
        ("x = datetime.utcfromtimestamp(t).isoformat()", 1),
    ],
)
def test_what_is_formatted_and_texts_of_utc(statement, count):
    assert len(lines_of(RULE, f"from datetime import datetime\n{statement}\n")) == count


@pytest.mark.parametrize(
    ("condition", "confidence"), [("datetime.now() - seen > LATER", "medium"), ("datetime.now() > seen", "")]
)
def test_both_ends_of_a_span_are_mostly_of_one_clock(condition, confidence):
    (mark,) = marks_of(RULE, f"from datetime import datetime\nif {condition}:\n    stop()\n")
    assert (mark.confidence, mark.severity) == (confidence, "warning")


@pytest.mark.parametrize(
    "statement",
    [
        "x = datetime.fromtimestamp(t).strftime('%d')",
        "x = f'{datetime.now():%Y%m%d}'",
        "file_id = date.today().isoformat() + '_' + key",
    ],
)
def test_texts_of_local_times(statement):
    assert lines_of(RULE, f"from datetime import date, datetime\n{statement}\n") == []


@pytest.mark.parametrize(("name", "count"), [("setSentDate", 0), ("setStartDate", 1)])
def test_a_mail_takes_an_instant(name, count):
    source = f"import java.util.Date;\nclass A {{ void f(Row row) {{ row.{name}(new Date()); }} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("other", "confidence"),
    [("order.expires_at", ""), ("datetime.fromtimestamp(order.end)", "low")],
)
def test_two_readings_of_the_local_clock_may_be_compared(other, confidence):
    source = f"from datetime import datetime\ndef late(order):\n    return {other} < datetime.now()\n"
    found = [each for each in marks_of(RULE, source) if "now" in each.message]
    assert [each.confidence for each in found] == [confidence]


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("row.completed = datetime.now()", 1),
        ("return datetime.now()", 1),
        ("send(created=datetime.now().isoformat())", 1),
        ("today = datetime.now()", 0),
        ("log.info('begun %s', datetime.now())", 0),
    ],
)
def test_a_time_that_stays_in_its_function_is_not_told(statement, count):
    source = f"from datetime import datetime\ndef f(row):\n    {statement}\n"
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


def test_a_time_of_the_day_needs_no_zone():
    source = "import java.text.SimpleDateFormat;\nclass A { Object f() { return new SimpleDateFormat(%s).parse(a); } }"
    assert lines_of(RULE, source % '"HH:mm"', "java") == []
    assert lines_of(RULE, source % '"yyyy-MM-dd HH:mm"', "java") == [2]


def test_what_is_written_and_read_back_meets_no_other_zone():
    made = 'new SimpleDateFormat("yyyy-MM-dd HH:mm")'
    source = (
        f"import java.text.SimpleDateFormat;\nclass A {{ Object f() {{ return {made}.parse({made}.format(a)); }} }}"
    )
    assert findings_of(RULE, {"A.java": source.replace(f"{made}.format(a)", "b")}) != []
    body = f"String b = {made}.format(a); return {made}.parse(b);"
    assert findings_of(RULE, {"A.java": source.partition("{ return")[0] + f"{{ {body} }} }}"}) == []


@pytest.mark.parametrize(("method", "count"), [("parse", 1), ("format", 0)])
def test_a_format_that_reads_texts_is_told(method, count):
    made = f'new SimpleDateFormat("yyyy HH").{method}(a)'
    source = f"import java.text.SimpleDateFormat;\nclass A {{ Object f() {{ return {made}; }} }}"
    assert len(findings_of(RULE, {"A.java": source})) == count


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("day + 'T00:00:00'", 1),
        ("`${day} 23:59`", 1),
        ("day + 'T00:00:00Z'", 0),
        ("`${day}T00:00:00+01:00`", 0),
        ("day + time", 0),
        ("`${day} ${hour}:00`", 1),
        ("`${day}T${hours}:${minutes}`", 1),
        ("`${day}T${hours}:00Z`", 0),
        ("`${day}T${time}`", 0),
    ],
)
def test_a_time_that_is_put_behind_a_day(given, count):
    asked = "return rows.find({ at: MoreThan(from) });"
    source = f"async function f(day) {{\n  const from = new Date({given});\n  {asked}\n}}\n"
    assert [each.severity for each in marks_of(RULE, source, "typescript")] == ["warning"] * count
    manifest = '{"dependencies": {"%s": "1"}}'
    assert len(findings_of(RULE, {"src/a.ts": source, "package.json": manifest % "express"})) == count
    assert findings_of(RULE, {"src/a.ts": source, "package.json": manifest % "react"}) == []


ENTITY = "import java.util.Date;\n@Entity\nclass Order {\n  private Date paidAt;\n  void pay() { %s }\n}"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("this.paidAt = new Date();", 1),
        ("paidAt = new Date();", 1),
        ("Date now = new Date(); this.paidAt = now;", 1),
        ("Date now = new Date(); show(now);", 0),
        ("this.shownAt = new Date();", 0),
        ("this.paidAt = new Date(seconds);", 0),
    ],
)
def test_a_date_that_an_entity_keeps(body, count):
    assert len(findings_of(RULE, {"src/Order.java": ENTITY % body})) == count
    assert findings_of(RULE, {"src/Order.java": ENTITY.replace("@Entity", "") % body}) == []


def test_the_format_of_another_method_has_its_own_zone():
    source = (
        "import java.text.SimpleDateFormat;\nclass A { Object f(String a) {\n"
        'SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd HH:mm"); return format.parse(a); }\n'
        "Object g(Date a) {\n"
        'SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd HH:mm"); format.setTimeZone(utc);\n'
        "return format.format(a); } }"
    )
    assert lines_of(RULE, source, "java") == [3]


def test_a_time_that_is_written_by_a_query_is_stored():
    source = "from datetime import datetime\ndef f(y, m):\n    ends = datetime(y, m, 3)\n    execute(SQL, (ends,))\n"
    assert [each.severity for each in marks_of(RULE, source)] == ["warning"]


@pytest.mark.parametrize(
    ("stored", "flagged"),
    [
        ("Slot.objects.create(room=1, begins=x)", True),
        ("slot = Slot(begins=x)\n    session.add(slot)", True),
        ("slot.begins = x\n    slot.save()", True),
        ("show(x)", False),
    ],
)
def test_a_time_that_is_read_and_stored(stored, flagged):
    source = (
        f"from datetime import datetime\ndef f(text):\n"
        f"    x = datetime.strptime(text, '%Y-%m-%d %H:%M')\n    {stored}\n"
    )
    assert bool(findings_of(RULE, {"app/a.py": source})) is flagged


@pytest.mark.parametrize(("value", "count"), [("datetime.utcnow", 1), ("datetime.now", 1), ("timezone.now", 0)])
def test_the_clock_as_a_default(value, count):
    source = (
        "from datetime import datetime\nfrom django.utils import timezone\n"
        f"class Slot(Base):\n    made = Column(DateTime, default={value})\n"
    )
    assert len(marks_of(RULE, source)) == count


@pytest.mark.parametrize("clock", ["now", "utcnow"])
def test_what_is_measured_by_its_start_and_end(clock):
    source = (
        "from datetime import datetime\nclass Job:\n    def run(self):\n"
        f"        self._start_time = datetime.{clock}()\n        work()\n"
        f"        self._finish_time = datetime.{clock}()\n"
        "    def took(self):\n        return self._finish_time - self._start_time\n"
    )
    assert lines_of(RULE, source) == []


def test_a_comment_above_may_say_that_local_time_is_meant():
    source = (
        "from datetime import datetime\n# The file system has local time, too.\nx = datetime.fromtimestamp(y) > z\n"
    )
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize(
    ("body", "flagged"),
    [
        ("Voucher v = new Voucher(); v.setIssuedOn(new Date()); return vouchers.save(v);", True),
        ("Voucher v = new Voucher(); v.setIssuedOn(LocalDateTime.now()); return vouchers.save(v);", True),
        ("Voucher v = vouchers.findById(id); v.setUsedAt(LocalDateTime.now());", True),
        ("Voucher v = new Voucher(); v.setIssuedOn(LocalDateTime.now()); return v;", False),
    ],
)
def test_what_a_row_of_java_is_given(body, flagged):
    source = (
        "import java.time.LocalDateTime;\nimport java.util.Date;\nclass A {\n"
        f"@Transactional\npublic Voucher f(Long id) {{ {body} }}\n}}\n"
    )
    assert bool(findings_of(RULE, {"src/main/java/a/A.java": source})) is flagged


@pytest.mark.parametrize(("annotation", "count"), [("@GetMapping", 1), ("", 0)])
def test_a_format_without_a_zone_matters_to_those_who_ask(annotation, count):
    source = (
        "import java.text.SimpleDateFormat;\nimport org.springframework.web.bind.annotation.*;\n@RestController\n"
        'class A {\nprivate final SimpleDateFormat f = new SimpleDateFormat("yyyy-MM-dd HH:mm");\n'
        f"{annotation}\npublic String show(Order o) {{ return f.format(o.at()); }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/main/java/a/A.java": source})) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("report.reportedAt = new Date();\nreport.persist();", 1),
        ("report.reportedAt = new Date();\nem.persist(report);", 1),
        ("report.reportedAt = new Date();\nshow(report);", 0),
        ("cards.findById(id).ifPresent(card -> {\ncard.setBlockedAt(LocalDateTime.now());\n});", 1),
        ("cards.findById(id).ifPresent(card -> {\nlog(LocalDateTime.now());\n});", 0),
    ],
)
def test_times_that_a_field_or_a_row_in_a_lambda_keeps(body, count):
    source = (
        "import java.time.LocalDateTime;\nimport java.util.Date;\nclass A {\n@Transactional\n"
        f"public void f(Report report, long id) {{\n{body}\n}} }}"
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(("zone", "count"), [("UTC", 0), ("Europe/Paris", 1)])
def test_django_takes_when_a_cookie_expires_as_utc(zone, count):
    source = "from datetime import datetime, timedelta\ndef set_language(answer, age):\n"
    source += "    answer.set_cookie('a', language(1), expires=datetime.now() + timedelta(seconds=age))\n"
    files = {"shop/settings.py": f'TIME_ZONE = "{zone}"\n', "shop/views.py": source}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("kept", "count"), [("at.get(Calendar.HOUR_OF_DAY)", 0), ("at.getTimeInMillis()", 1)])
def test_the_hour_of_a_text_is_that_of_the_text(kept, count):
    source = (
        "import java.text.SimpleDateFormat;\nclass A { Object f(String text) {\n"
        'SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss");\n'
        f"Calendar at = Calendar.getInstance();\nat.setTime(format.parse(text));\nint hour = at.get(Calendar.HOUR);\n"
        f"return {kept};\n}} }}"
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(("pattern", "count"), [("yyyyMMddHHmmss", 0), ("yyyy-MM-dd HH:mm:ss", 1)])
def test_a_time_without_a_sign_is_part_of_a_name(pattern, count):
    source = (
        'import java.text.SimpleDateFormat;\nclass A { @GetMapping("/a") String f(Date date) {\n'
        f'return new SimpleDateFormat("{pattern}").format(date);\n}} }}'
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(
    ("kept", "count"), [("datetime.now()", 0), ("None", 1), ("row.created", 1), ("datetime.utcnow()", 1)]
)
def test_a_member_may_keep_the_other_reading_of_a_span(kept, count):
    source = (
        "from datetime import datetime\n\nclass Note:\n    def show(self):\n"
        f"        self.shown = {kept}\n\n"
        "    def is_old(self):\n        return datetime.now() - self.shown > self.most\n"
    )
    assert len([line for line in lines_of(RULE, source) if line == 8]) == count


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("return row.sailed_on == datetime.today().date()", 1),
        ("return row.sailed_on == datetime.now(UTC).date()", 0),
        ("first = datetime.strptime(text, '%Y-%m-%d %H:%M')\n    return first.isoformat(' ', 'minutes') < other", 1),
        ("first = datetime.strptime(text, '%Y-%m-%d %H:%M')\n    return first.isoformat(' ', 'minutes')", 0),
    ],
)
def test_days_and_texts_of_times_that_are_compared(line, count):
    source = f"from datetime import UTC, datetime\ndef f(row, text, other):\n    {line}\n"
    assert len(findings_of(RULE, {"ferry/trips.py": source})) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("FIRST_TRIP = datetime(2019, 5, 1)\n", 1),
        ("FIRST_TRIP = datetime(2019, 5, 1, tzinfo=UTC)\n", 0),
        ("NEVER = datetime(9999, 1, 1)\n", 0),
        ("__released__ = datetime(2019, 5, 1)\n", 0),
        ("def f():\n    first = datetime(2019, 5, 1)\n", 0),
    ],
)
def test_a_constant_of_a_module_is_there_for_others(source, count):
    found = findings_of(RULE, {"ferry/trips.py": f"from datetime import UTC, datetime\n{source}"})
    assert [(each.severity, each.confidence) for each in found] == [("info", "low")] * count


@pytest.mark.parametrize(
    ("reckoned", "told"),
    [("(datetime.now() - YEARS).date()", [("low", "info")]), ("(datetime.now() - YEARS)", [("high", "warning")])],
)
def test_only_the_day_of_what_was_reckoned(reckoned, told):
    source = f"from datetime import datetime\ndef f(row):\n    return row.created < {reckoned}\n"
    assert [(each.confidence, each.severity) for each in findings_of(RULE, {"shop/a.py": source})] == told


@pytest.mark.parametrize(
    ("done", "flagged"),
    [
        (".replace(microsecond=0)", True),
        (".replace(hour=0, minute=0)", True),
        (".replace(tzinfo=ZONE)", False),
        (".replace(hour=0, tzinfo=ZONE)", False),
        (".replace(microsecond=0).astimezone()", False),
        (".replace(microsecond=0).strftime('%Y')", False),
    ],
)
def test_a_time_that_is_set_to_an_hour_has_no_zone_yet(done, flagged):
    source = f"from datetime import datetime\ndef begin():\n    return datetime.now(){done}\n"
    assert bool(findings_of(RULE, {"shop/days.py": source})) is flagged


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('export const OPENING = new Date("2031-02-03T10:00:00");\n', 1),
        ('export const OPENING = new Date("2031-02-03T10:00:00Z");\n', 0),
        ('const rows = [{ at: new Date("2031-02-03T10:00:00") }];\n', 0),
        ('export function opening() { const opened = new Date("2031-02-03T10:00:00"); show(opened); }\n', 0),
    ],
)
def test_a_constant_of_script_is_there_for_others(source, count):
    assert len(findings_of(RULE, {"src/times.ts": source})) == count


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ({"shop/settings.py": "USE_TZ = False\n"}, ("low", "info")),
        ({"shop/settings.py": "USE_TZ = True\n"}, ("high", "warning")),
        ({"shop/settings.py": "USE_TZ = False\n", "shop/live.py": "USE_TZ = True\n"}, ("high", "warning")),
        ({}, ("high", "warning")),
    ],
)
def test_a_project_of_django_may_keep_all_its_times_without_a_zone(says, told):
    source = (
        "from datetime import datetime\ndef f(order):\n    order.created_at = datetime.utcnow()\n    order.save()\n"
    )
    (finding,) = findings_of(RULE, {"shop/orders.py": source, **says})
    assert (finding.confidence, finding.severity) == told
