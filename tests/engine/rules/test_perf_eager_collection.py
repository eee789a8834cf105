import pytest

from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings

RULE = "perf-eager-collection"
MODELS = """
from sqlalchemy.orm import relationship, mapped_column
class User(Base):
    __tablename__ = "users"
    id = mapped_column(Integer, primary_key=True)
    posts: Mapped[{kind}] = relationship("Post", lazy="{lazy}")
class Post(Base):
    __tablename__ = "posts"
    id = mapped_column(Integer, primary_key=True)
"""


@pytest.mark.parametrize("lazy", ["joined", "subquery"])
def test_a_collection_that_every_query_joins_is_found(lazy):
    (finding,) = findings(RULE, MODELS.format(kind="list['Post']", lazy=lazy), volumes={"posts": "XL"})
    assert finding.message == "All of `posts` are loaded with every `User` (table `posts`, XL)"
    assert (finding.line, finding.severity, finding.table) == (8, "critical", "posts")
    assert "selectinload(posts)" in finding.suggestion


@pytest.mark.parametrize(
    ("kind", "lazy"), [("list['Post']", "select"), ("list['Post']", "selectin"), ("'Post'", "joined")]
)
def test_lazy_collections_batches_and_single_rows_are_fine(kind, lazy):
    assert findings(RULE, MODELS.format(kind=kind, lazy=lazy)) == []


def test_the_line_is_that_of_the_annotation():
    java = (
        "import jakarta.persistence.*;\n@Entity\nclass User {\n  @Id Long id;\n"
        "  @OneToMany(fetch = FetchType.EAGER)\n  @OrderBy\n  List<Post> posts;\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/User.java": java})] == [5]
    script = (
        "import { Entity, OneToMany } from 'typeorm';\n@Entity()\nexport class User {\n"
        "  @OneToMany(() => Post, (post) => post.user, { eager: true })\n  posts: Post[];\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/user.ts": script})] == [4]


def test_a_default_scope_includes_what_another_file_relates():
    files = {
        "models/user.js": (
            "const User = sequelize.define('User', { name: DataTypes.STRING }, {\n"
            "  defaultScope: { include: ['posts'] },\n});\n"
        ),
        "models/index.js": "const { User, Post } = load(sequelize);\nUser.%s(Post, { as: 'posts' });\n",
    }
    many = {path: source.replace("%s", "hasMany") for path, source in files.items()}
    assert [(each.file, each.line) for each in findings_of(RULE, many)] == [("models/user.js", 2)]
    assert findings_of(RULE, {path: source.replace("%s", "hasOne") for path, source in files.items()}) == []


@pytest.mark.parametrize(("load", "count"), [("joinedload", 1), ("selectinload", 0)])
def test_two_collections_that_one_query_joins(load, count):
    source = MODELS.format(kind="list['Post']", lazy="select").replace(
        'relationship("Post", lazy="select")',
        'relationship("Post")\n    notes: Mapped[list["Post"]] = relationship("Post")',
    )
    query = (
        f"\ndef f(session):\n    stmt = select(User).options({load}(User.posts), {load}(User.notes))\n"
        "    return session.scalars(stmt).all()\n"
    )
    assert len(findings(RULE, source + query)) == count


def test_a_default_scope_includes_what_the_same_file_relates():
    source = (
        "const User = sequelize.define('User', { name: DataTypes.STRING }, {\n"
        "  defaultScope: {\n    include: [{ association: 'posts' }],\n  },\n});\nUser.hasMany(Post, { as: 'posts' });\n"
    )
    assert [each.line for each in findings_of(RULE, {"models.js": source})] == [3]


def test_one_row_of_a_table_between_is_no_collection():
    source = (
        "class Folder(Base):\n    __tablename__ = 'folders'\n    id = mapped_column(Integer, primary_key=True)\n\n"
        "class Paper(Base):\n    __tablename__ = 'papers'\n    id = mapped_column(Integer, primary_key=True)\n"
        "    folder = relationship('Folder', secondary=places, %slazy='joined')\n"
    )
    assert len(findings_of(RULE, {"models.py": source % ""})) == 1
    assert findings_of(RULE, {"models.py": source % "uselist=False, "}) == []


@pytest.mark.parametrize(("end", "severity"), [("first_or_404()", "info"), ("all()", "warning")])
def test_two_collections_that_a_query_of_flask_joins(end, severity):
    source = MODELS.format(kind="list['Post']", lazy="select").replace(
        'relationship("Post", lazy="select")',
        'relationship("Post")\n    notes: Mapped[list["Post"]] = relationship("Post")',
    )
    query = (
        "\ndef f(name):\n"
        f"    return User.query.options(joinedload(User.posts), joinedload(User.notes)).filter_by(name=name).{end}\n"
    )
    assert [each.severity for each in findings(RULE, source + query)] == [severity]


@pytest.mark.parametrize(("size", "found"), [("S", 0), ("M", 1)])
def test_values_in_a_small_table(size, found):
    source = (
        "import jakarta.persistence.*;\n@Entity\nclass Brand {\n  @Id private Long id;\n"
        '  @ElementCollection(fetch = FetchType.EAGER)\n  @CollectionTable(name = "brand_words")\n'
        "  private Set<String> words;\n}\n"
    )
    assert len(findings_of(RULE, {"src/main/java/Brand.java": source}, {"brand_words": size})) == found


@pytest.mark.parametrize(("more", "severity"), [("", "info"), (", joinedload(User.likes)", "warning")])
def test_three_collections_multiply_also_for_one_object(more, severity):
    source = MODELS.format(kind="list['Post']", lazy="select").replace(
        'relationship("Post", lazy="select")',
        'relationship("Post")\n    notes: Mapped[list["Post"]] = relationship("Post")\n'
        '    likes: Mapped[list["Post"]] = relationship("Post")',
    )
    query = (
        "\ndef f(name):\n"
        f"    return User.query.options(joinedload(User.posts), joinedload(User.notes){more}).first_or_404()\n"
    )
    for size in ("M", "XXL"):  # of the table, of which one row is asked for
        found = findings(RULE, source + query, volumes={"users": size})
        assert [each.severity for each in found] == [severity]
