"""One notebook open in JupyterLab, driven by what a student does: run, type, press keys, read."""

from urllib.parse import urlparse

NOTEBOOK = "window.jupyterapp.shell.currentWidget"
NOW = f"""() => ({{
    path: {NOTEBOOK}.context.path,
    trusted: {NOTEBOOK}.content.widgets.some(cell => cell.model.type === 'code' && cell.model.trusted),
    kernel: {NOTEBOOK}.sessionContext.session.kernel.status,
}})"""
READY = """() => {
    const panel = window.jupyterapp?.shell?.currentWidget;
    return panel?.content?.widgets?.length > 0 && panel.context?.isReady
        && panel.sessionContext?.session?.kernel?.status === 'idle';
}"""
RUN_ALL = "() => { window.runAll = window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
ALL_RAN = f"""() => {{
    const cells = {NOTEBOOK}.content.widgets.filter(cell => cell.model.type === 'code');
    return {NOTEBOOK}.sessionContext.session.kernel.status === 'idle'
        && cells.every(cell => cell.model.executionCount && cell.model.executionState !== 'running');
}}"""
INDEX = f"id => {NOTEBOOK}.content.widgets.findIndex(cell => cell.model.id === id)"
COUNT = f"id => {NOTEBOOK}.content.widgets.find(cell => cell.model.id === id).model.executionCount"
FORGET_COUNT = f"id => {{ {NOTEBOOK}.content.widgets.find(cell => cell.model.id === id).model.executionCount = null; }}"
OUTPUTS = f"""id => {NOTEBOOK}.content.widgets
    .filter(cell => cell.model.type === 'code' && (!id || cell.model.id === id))
    .flatMap(cell => cell.model.outputs.toJSON().map(output => ({{id: cell.model.id, ...output}})))"""


def foreign_to(page):
    """-> a list that fills with the addresses of other hosts that a page asks."""
    found = []

    def note(request):
        address = urlparse(request.url)
        if address.scheme.startswith(("http", "ws")) and address.hostname != "127.0.0.1":
            found.append(request.url)

    page.on("request", note)
    page.on("websocket", note)  # Playwright counts these apart
    return found


class LabPage:
    """`page` is Playwright's; `foreign` lists the requests and sockets that went to another host."""

    def __init__(self, page, url, folder):
        self.page, self.folder = page, folder
        self.foreign, self.failed = foreign_to(page), []
        page.on("pageerror", lambda error: self.failed.append(str(error)))
        page.goto(url)
        page.wait_for_function(READY, timeout=300_000)

    def now(self):
        """The open notebook's path, whether any of its cells is trusted, and the status of its kernel."""
        return self.page.evaluate(NOW)

    def run_all(self):
        """Run every cell from top to bottom, as the menu does, and wait for the last."""
        self.page.evaluate(RUN_ALL)
        self.page.wait_for_function(ALL_RAN, timeout=600_000)

    def errors(self):
        """Outputs of type error, or printed to stderr."""
        outputs = self.page.evaluate(OUTPUTS, None)
        return [out for out in outputs if out["output_type"] == "error" or out.get("name") == "stderr"]

    def text_of(self, cell_id):
        """What a cell's outputs say, as plain text; of an error its type and message."""
        return "\n".join(_plain(output) for output in self.page.evaluate(OUTPUTS, cell_id))

    def go_to(self, cell_id):
        """Scroll a cell into view and make it the active one -> its locator."""
        index = self.page.evaluate(INDEX, cell_id)
        assert index >= 0, f"there is no cell {cell_id}"
        self.page.evaluate(
            f"async index => {{ const book = {NOTEBOOK}.content; book.activeCellIndex = index;"
            " await book.scrollToItem(index, 'center'); }",
            index,
        )
        cell = self.page.locator(f'.jp-Cell[data-windowed-list-index="{index}"]')
        cell.wait_for(state="visible", timeout=60_000)
        return cell

    def answer(self, cell_id, replace, by):
        """In a cell's editor, type `by` over the line that holds `replace`, press Shift+Enter, wait -> its text."""
        line = self.go_to(cell_id).locator(".cm-line", has_text=replace).first
        line.click()
        self.page.keyboard.press("Home")  # behind the indentation
        self.page.keyboard.press("Shift+End")
        self.page.keyboard.insert_text(by)
        return self.press_and_wait(cell_id, "Shift+Enter")

    def press_and_wait(self, cell_id, keys):
        """Press keys that run a cell, wait until it has run -> its text."""
        # a stored count may be the very one that comes next
        self.page.evaluate(FORGET_COUNT, cell_id)
        self.page.keyboard.press(keys)
        self.page.wait_for_function(COUNT, arg=cell_id, timeout=300_000)
        self.page.wait_for_function(ALL_RAN, timeout=300_000)
        return self.text_of(cell_id)


def _plain(output):
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
