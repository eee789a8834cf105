"""Facts of many files are those of each, and take less memory."""

from analysis.engine.decoding import EncodedFacts, decode_all
from analysis.engine.extract import extract
from analysis.engine.facts import decode, encode
from analysis.engine.languages import reading_of

FILES = {
    "shop/orders.py": b"""
from shop.money import rounded

class Orders:
    def total(self, lines: list[int]) -> int:
        for line in lines:
            self.sum += rounded(line)
        return self.sum
""",
    "shop/returns.py": b"""
from shop.money import rounded

def refund(lines: list[int]) -> int:
    return sum(rounded(line) for line in lines)
""",
    "src/Orders.java": b"""
package shop;
import java.util.List;
class Orders {
    private Money money;
    @Override int total(List<Line> lines) { for (Line line : lines) { money.add(line); } return money.total(); }
}
""",
    "orders/orders.go": b"""
package orders
func (s *Store) Total(ctx context.Context) int { return s.db.Count(ctx) }
""",
}
ENCODED = {path: encode(extract(content, reading_of(path))) for path, content in FILES.items()}


def test_a_file_among_many_says_what_it_says_alone():
    assert dict(decode_all(ENCODED.items())) == {path: decode(data) for path, data in ENCODED.items()}


def test_what_waits_in_one_block_is_what_was_put_there():
    waiting = EncodedFacts[str]()
    for path, data in ENCODED.items():
        waiting.add(path, data)

    assert waiting.keys() == ENCODED.keys()
    assert waiting.decoded() == {path: decode(data) for path, data in ENCODED.items()}


def test_what_two_files_say_alike_is_one_object():
    orders, returns = (facts for path, facts in decode_all(ENCODED.items()) if path.startswith("shop/"))
    assert orders.imports[0].target is returns.imports[0].target
    assert orders.functions[1].parameters[1] is returns.functions[1].parameters[0]
    assert orders.functions[1].calls[0] is returns.functions[1].calls[1]
