"""How the page of a report looks: light and dark, on screens and on paper, without anything from elsewhere."""

STYLE = (
    """
:root{color-scheme:light dark;--ink:#1c2024;--soft:#5b6470;--line:#d5dae0;--back:#fff;--shade:#f4f6f8;
--good:#1a7f37;--bad:#b42318;--unsure:#8a5a00;
--c0:#0f62a6;--c1:#b4500f;--c2:#1d7a4f;--c3:#8a3fa0;--c4:#7d6608;--c5:#b02a5b;--c6:#28757f;--c7:#5a5f66}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a4adb8;--line:#3a424c;--back:#14171a;
--shade:#1e2328;--good:#5fd38a;--bad:#ff8a80;--unsure:#f0c36d;
--c0:#6cb6ff;--c1:#ffa657;--c2:#62d69a;--c3:#d7a3ee;--c4:#e3d26f;--c5:#ff9bbd;--c6:#7fd6e0;--c7:#b9c0c8}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:70rem;background:var(--back);color:var(--ink);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}
p,li{max-width:65rem}.soft{color:var(--soft)}code{font-size:.92em}
.good{color:var(--good)}.bad{color:var(--bad)}.unsure{color:var(--unsure)}
.verdict{margin:1rem 0;padding:.75rem 1rem;border-left:.4rem solid var(--line);background:var(--shade)}
.verdict.good{border-color:var(--good)}.verdict.bad{border-color:var(--bad)}.verdict.unsure{border-color:var(--unsure)}
.verdict>*{color:var(--ink);margin:.2rem 0}.verdict>:first-child{font-weight:600}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}
caption{text-align:left;color:var(--soft);padding:.3rem 0}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top}
th{font-weight:600;white-space:nowrap}td{white-space:nowrap}th.text,td.text{text-align:left}td.text{white-space:normal;overflow-wrap:break-word;max-width:32rem}
td small{display:block;color:var(--soft)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}
figure{margin:.5rem 0;max-width:40rem}figcaption{color:var(--soft);font-size:.92rem}
svg{width:100%;height:auto;display:block}
svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg .soft{fill:var(--soft)}
svg .grid{stroke:var(--line);stroke-width:1}svg .zero{stroke:var(--soft);stroke-width:1}
svg .up{fill:var(--good)}svg .down{fill:var(--bad)}svg .even{fill:var(--soft)}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--soft)}
"""
    + "".join(
        f"svg .s{i}{{stroke:var(--c{i});fill:none;stroke-width:2}}svg .f{i}{{fill:var(--c{i})}}"
        f"svg .b{i}{{fill:var(--c{i});opacity:.15}}.k{i}{{color:var(--c{i});font-weight:700}}\n"
        for i in range(8)
    )
    + """
@media print{body{max-width:none;padding:0;font-size:11px}h2,figure,tr{break-inside:avoid}h2{break-after:avoid}
.scroll{overflow:visible}details>*{display:block}summary{display:none}}
"""
)

COLOURS = 8
