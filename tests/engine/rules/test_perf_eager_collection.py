import pytest

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
