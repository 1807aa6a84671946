"""A long answer with everything that Markdown has, for tests of what moves on a page while it is written. Values alone."""

TREATISE = r"""## First part

Rest is where strength is made, and **every session counts** only with the rest that follows it. What one does between two
sets, between two days and between two months is *the same question*, asked three times with `three` different clocks, and
nobody has to answer it alone.

### What to write down

- the weight, in kilograms
- the repetitions
  - those that were clean
  - those that were not, with a word on why
    1. the grip
    2. the breath
- how it felt, from 1 to 10

1. Warm up for ten minutes.
2. Lift for forty.
3. Walk home.

- [x] shoes
- [ ] water

## Second part

| Goal | Sets | Repetitions | Rest |
| :--- | ---: | :---: | --- |
| Strength | 5 | 5 | **3 min** |
| Size | 4 | 10 | 90 s |
| Stamina | 3 | 20 | `45 s` |
| Balance | 2 | 30 | as long as it takes |

```python
from dataclasses import dataclass


@dataclass
class Session:
    weight_kg: float
    reps: int

    def volume(self) -> float:
        # What counts in the end.
        return self.weight_kg * self.reps


print(sum(each.volume() for each in [Session(60, 5), Session(62.5, 5)]))
```

> A rest that is too short is a set that is too long.
>
> - said by a coach
> - heard by nobody

## Third part

The most that one can lift once is near $w \cdot (1 + \frac{r}{30})$ for $r$ repetitions with the weight $w$, so that

$$
w_{max} = w \cdot \left(1 + \frac{r}{30}\right)
$$

holds for up to ten of them. Beyond that the formula promises too much, and a person who believes it will lift too much: the
honest way is to lift less, more often, and to look at the numbers once a month.

| Month | Squat | Press |
| --- | ---: | ---: |
| 1 | 60 | 30 |
| 2 | 65 | 32.5 |
| 3 | 67.5 | 35 |

```
week 1   x x . x
week 2   x . x x
```

That is all there is to say of it, and the rest is practice. Come back when the numbers stop moving, and bring the notes.
"""

FORMULAS = r"""What the sets of one month come to[^sum], as one who counts[^books] would write it:

$$
V = \sum_{i=1}^{n} \frac{w_i \cdot r_i}{1 + \frac{t_i}{90}}
$$

Four weeks of it are a column, and the next month is that column, turned[^sum]:

\[
\begin{pmatrix} w_1 \\ w_2 \\ w_3 \\ w_4 \end{pmatrix}
= \begin{pmatrix}
1 & 0 & 0 & 0 \\
0 & 1 & 0 & 0 \\
0 & 0 & 1 & 0 \\
0 & 0 & 0 & \frac{1}{2}
\end{pmatrix} v
\]

$$ x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a} $$

$$
\begin{aligned}
a &= b + c \\
d &= e
\end{aligned}
$$

The last week is half of the others, so that the body has time for what it has learned. Whoever leaves it out gains a week
and loses a month; whoever takes it twice loses nothing but patience. All the rest is a matter of sleep, of food and of time.

[^sum]: Only those that were clean.
"""
