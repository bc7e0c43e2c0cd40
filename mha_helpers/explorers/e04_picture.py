"""The picture of ``scaling_explorer``: scores, their spread, one row of weights, and three measures."""

import math

import matplotlib
import numpy as np

from mha_helpers import style
from mha_helpers.figures.picture import new_figure

SCORE_INK, NOW_INK = "#5A5A5A", style.COLOURS["ink"]


class ScalePicture:
    """Four views: the scores, their spread against d_k, one row of weights, three measures against d_k.

    ``d_ks`` are the places on the axes of d_k, ``scales`` a dict of name -> function of d_k that gives the
    factor, ``query`` the number of the row of weights, ``bits`` the largest possible entropy.

    Read from the state: ``place`` (which of d_ks is chosen), ``scaled`` (every score), ``row`` (weights
    of one query), and for each of d_ks ``spread``, ``largest``, ``entropy``, ``gradient``.
    """

    REACH = 40  # the histogram shows scores from −40 to 40, so that a change of spread is seen as one
    BINS = 80
    LARGEST_SPREAD = 2**9.5
    WIDTH, HEIGHT = 900, 560

    def __init__(self, d_ks, scales, query, keys, bits):
        self.d_ks, self.scales, self.query, self.keys = d_ks, scales, query, keys
        # name -> label, line style, and its largest possible value, since the curves share one axis
        self.measures = {
            "largest": ("largest\nweight", "-", 1.0),
            "entropy": (f"entropy\n÷ {bits:.0f} bits", "--", bits),
            "gradient": ("gradient", ":", 1.0),
        }

    def layout(self, state):
        return "always the same"

    def draw(self, state):
        with style.drawing():
            figure = new_figure(self.WIDTH, self.HEIGHT)
            grid = figure.add_gridspec(
                2, 2, left=0.075, right=0.88, top=0.94, bottom=0.09, wspace=0.24, hspace=0.46
            )
            axes = [figure.add_subplot(grid[place]) for place in np.ndindex(2, 2)]
            for ax in axes:
                ax.spines[["top", "right"]].set_visible(False)
            artists = {
                **self._draw_histogram(axes[0]),
                **self._draw_spread(axes[1]),
                **self._draw_row(axes[2]),
                **self._draw_measures(axes[3]),
            }
        return figure, artists

    def _draw_histogram(self, ax):
        ax.set(xlim=(-self.REACH, self.REACH), ylim=(0, 1.25), yticks=[], xlabel="score, after the scale")
        ax.set_title("all scores", fontsize=style.FONT_SIZE, weight="bold")
        edges = np.linspace(-self.REACH, self.REACH, self.BINS + 1)
        return {
            "histogram": ax.stairs(np.zeros(self.BINS), edges, fill=True, color=SCORE_INK),
            "bracket": ax.plot([0, 0], [1.1, 1.1], color=NOW_INK, linewidth=3, solid_capstyle="butt")[0],
            "spread_text": ax.text(0.02, 0.99, "", transform=ax.transAxes, va="top"),
            "outside": ax.text(0.02, 0.86, "", transform=ax.transAxes, va="top", fontsize=10),
        }

    def _draw_spread(self, ax):
        self._d_k_axis(ax)
        ax.set_yscale("log", base=2)
        ax.set(ylim=(2**-6.5, self.LARGEST_SPREAD))
        ax.set_yticks([1 / 16, 1 / 4, 1, 4, 16, 64, 256], ["1/16", "1/4", "1", "4", "16", "64", "256"])
        ax.minorticks_off()
        ax.set_title("spread of the scores", fontsize=style.FONT_SIZE, weight="bold")
        for name, factor in self.scales.items():
            spreads = [factor(d_k) * math.sqrt(d_k) for d_k in self.d_ks]
            unscaled = name == "none"
            ax.plot(
                self.d_ks,
                spreads,
                color="#333333" if unscaled else "#AAAAAA",
                linewidth=1.8 if unscaled else 1.2,
            )
            label = "none: √d_k" if unscaled else name
            if name != "÷√d_model":  # ends in the same point as ÷√d_k, so it is named at its beginning
                ax.annotate(
                    label, (self.d_ks[-1], spreads[-1]), (9, 0), textcoords="offset points", va="center"
                )
        ax.text(2.6, 2**-5.3, "÷√d_model", va="center")
        return {
            "spreads": ax.plot(self.d_ks, np.ones(len(self.d_ks)), "o", markersize=4, color=SCORE_INK)[0],
            "spread_now": self._present_point(ax),
        }

    def _draw_row(self, ax):
        ax.set(xlim=(0.3, self.keys + 0.7), ylim=(0, 1.12), ylabel="weight")
        ax.set_xticks(range(1, self.keys + 1), [str(key) for key in range(1, self.keys + 1)], fontsize=9)
        ax.set_xlabel("key", color=style.COLOURS["key"], weight="bold")
        ax.set_title(f"the weights of query {self.query}", fontsize=style.FONT_SIZE, weight="bold")
        bars = ax.bar(
            range(1, self.keys + 1), np.zeros(self.keys), width=0.8, edgecolor="#555555", linewidth=0.6
        )
        return {"bars": list(bars), "row_text": ax.text(0, 0, "", ha="center", va="bottom")}

    def _draw_measures(self, ax):
        ink = matplotlib.colormaps[style.WEIGHT_CMAP](0.88)
        self._d_k_axis(ax)
        ax.set(ylim=(-0.03, 1.05), yticks=[0, 0.5, 1])
        ax.set_title("softmax rows on average", fontsize=style.FONT_SIZE, weight="bold")
        artists = {}
        for name, (label, look, _) in self.measures.items():
            line = ax.plot(self.d_ks, np.ones(len(self.d_ks)), look, color=ink, linewidth=2.2, label=label)[0]
            artists[name] = line
            artists[f"{name}_now"] = self._present_point(ax)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=10, handlelength=1.9)
        return artists

    def _d_k_axis(self, ax):
        ax.set_xscale("log", base=2)
        ax.set(xlim=(0.9, 560), xlabel="$d_k$")
        ticks = [1, 4, 16, 64, 256]
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()

    def _present_point(self, ax):
        look = {"markersize": 10, "markerfacecolor": style.COLOURS["lit"], "markeredgecolor": NOW_INK}
        return ax.plot([1], [1], "o", clip_on=False, zorder=5, **look)[0]

    def update(self, artists, state):
        place = state["place"]
        self._update_histogram(artists, state["scaled"].numpy().ravel(), float(state["spread"][place]))
        # A spread above the axis is shown at its upper end; the text beside the histogram has the number.
        spreads = np.minimum(state["spread"].numpy(), self.LARGEST_SPREAD)
        artists["spreads"].set_ydata(spreads)
        artists["spread_now"].set_data([self.d_ks[place]], [spreads[place]])

        row = state["row"].numpy()
        colours = matplotlib.colormaps[style.WEIGHT_CMAP](row)
        for bar, weight, colour in zip(artists["bars"], row, colours, strict=True):
            bar.set_height(weight)
            bar.set_facecolor(colour)
        key = int(row.argmax())
        artists["row_text"].set_position((key + 1, row[key] + 0.01))
        artists["row_text"].set_text(style.number(row[key], trim=False))

        for name, (_, _, full) in self.measures.items():
            curve = state[name].numpy() / full
            artists[name].set_ydata(curve)
            artists[f"{name}_now"].set_data([self.d_ks[place]], [curve[place]])

    def _update_histogram(self, artists, scaled, spread):
        counts = np.histogram(scaled, bins=self.BINS, range=(-self.REACH, self.REACH))[0]
        artists["histogram"].set_data(counts / max(counts.max(), 1))
        half = min(spread, self.REACH)
        artists["bracket"].set_xdata([-half, half])
        artists["spread_text"].set_text(f"spread {style.number(spread, trim=False)}")
        outside = (np.abs(scaled) > self.REACH).mean()
        artists["outside"].set_text(f"{outside:.0%} lie outside" if outside >= 0.005 else "")
