"""How complexity is counted. The walk does the counting; this page says what counts, and holds the shared parts.

Cyclomatic complexity (McCabe 1976) of a function: 1 + its decisions. A decision is an `if` or `elif`, a loop, an
`except` or `catch`, a `case` that is not the default and has a body, a logical operator (`and or && ||`), a
conditional expression, and each `for` and `if` of a comprehension. Not: `else`, `finally`, `assert`, `default`, `??`.

Cognitive complexity (Campbell, "Cognitive Complexity", SonarSource 2018): one for each `if`, `else if`, `else`,
conditional expression, `switch` or `match`, loop, `catch`, jump to a label, run of like logical operators, and for
recursion; the nesting structures (`if`, conditional expression, `switch`, loop, `catch`) add their nesting depth on
top. Lambdas and nested functions raise nesting. `try` and `finally` add nothing, nor do `??` and `?.`.

Who gets the count: a named function, method, or function given a name by assignment has an entry of its own. Python
lambdas, Java lambdas, Go function literals and arrow functions without a block count for the function around them;
other JavaScript functions passed as arguments have their own entry. Entries start at nesting 0, and at the enclosing
nesting + 1 when they stand inside another function. A React component is a frame around functions: those inside it
start at nesting 0, and arrow functions without a block do not count for it. Code at the top level counts for `module`.

How other tools count the same files stands in docs/accuracy.md. In Go lizard gives function literals entries of their
own, so that functions around them have less there than here.
"""

DEEP = 4  # levels of control structures beyond which nesting is worth a finding


def runs(operators: list[tuple[int, str]]) -> int:
    """How many runs of like operators an expression reads as; `a or b and c or d` has three.

    `operators` are (place, sign) in any order.
    """
    count, previous = 0, ""
    for _, sign in sorted(operators):
        count += sign != previous
        previous = sign
    return count
