"""Milliseconds from a keypress to the new picture: `python tests/benchmarks/panel_redraw.py`.

A real JupyterLab and a real Chromium, as the browser tests start them, with notebooks made on the spot that show one
panel each: lesson 04's, and lesson 09's on the real model. Arrow keys move the first slider; the page itself measures
from `keydown` to the `<img>` with another `src`. Nothing is asserted: times depend on the machine.
"""

import datetime
import os
import statistics
import sys
from pathlib import Path

import nbformat
import pytest

BROWSER = Path(__file__).resolve().parents[1] / "browser"
WARM_UP, PRESSES = 3, 30
START = "from utils import widgets\nfrom utils.pretrained import smollm_or_stand_in\n\nreal = smollm_or_stand_in()\n"
NAMES = '" Kalmox and Tirbel live in Vunstad." * 2'
# the panel, and how many milliseconds it may take at the 95th percentile
PANELS = {
    "temperature, course model": ("from utils import widgets\n\nwidgets.TemperatureExplorer()", 100),
    "temperature, SmolLM2": (START + 'widgets.TemperatureExplorer(*real, text="The capital of France is")', 400),
    "stepper, SmolLM2": (START + 'widgets.GenerationStepper(*real, text="Once upon a time, there was a little")', 400),
    "lens, SmolLM2": (START + f"widgets.Lens(*real, {NAMES}, word=12)", 400),
    "attention, SmolLM2": (START + f"widgets.AttentionExplorer(*real, {NAMES}, 18, 6, 14)", 400),
}
MEASURE = """cell => {
    window.times = [];
    let shown = cell.querySelector('figure img').src, pressed = 0;
    cell.addEventListener('keydown', () => { pressed = performance.now(); }, true);
    new MutationObserver(() => {
        const now = performance.now(), picture = cell.querySelector('figure img');
        if (picture && picture.src !== shown) { shown = picture.src; window.times.push(now - pressed); }
    }).observe(cell, {subtree: true, childList: true, attributes: true, attributeFilter: ['src']});
}"""


@pytest.fixture(params=PANELS)
def explorer(request, lab, open_page):
    """The panel's name, a page of JupyterLab in which it is alive, and the cell that it stands in."""
    folder, _ = lab
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(PANELS[request.param][0], id="panel")])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    file = f"redraw_{list(PANELS).index(request.param)}.ipynb"
    nbformat.write(notebook, folder / "my_work" / file)
    page = open_page(f"lab/tree/my_work/{file}")
    page.run_all()
    cell = page.go_to("panel")
    cell.locator(".noUi-handle").first.wait_for(timeout=30_000)
    return request.param, page, cell


def test_measure_and_print(explorer):
    """Press, wait for the picture, press again; print median and 95th percentile."""
    name, page, cell = explorer
    cell.evaluate(MEASURE)
    cell.locator(".noUi-handle").first.focus()
    for press in range(WARM_UP + PRESSES):
        page.page.keyboard.press("ArrowRight" if press // 10 % 2 == 0 else "ArrowLeft")
        page.page.wait_for_function("count => window.times.length === count", arg=press + 1, timeout=10_000)
    times = sorted(page.page.evaluate("() => window.times")[WARM_UP:])
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"
    print(f"\n{name}: {datetime.date.today()}, {os.cpu_count()} cores, {load}, {PRESSES} presses of an arrow key")
    print(
        f"median {statistics.median(times):.0f} ms, 95th percentile {times[-(-95 * PRESSES // 100) - 1]:.0f} ms", end=""
    )
    print(f", slowest {times[-1]:.0f} ms; goal: {PANELS[name][1]} ms at the 95th percentile")


if __name__ == "__main__":
    sys.path.insert(0, str(BROWSER))
    import conftest  # the browser tests' server and browser

    sys.exit(pytest.main([__file__, "-s", "-q", "-p", "no:cacheprovider"], plugins=[conftest]))
