"""A headless Chromium for the scripts that walk through pages."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

PATIENCE = 60  # seconds until a step counts as failed: a busy machine derives the keys of passwords slowly in a debug build


def failure(text):
    return SystemExit(f"{pathlib.Path(sys.argv[0]).name}: {text}")


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if program := shutil.which(name):
            return program
    raise failure("no Chromium. Scripts/setup --with-browser installs it.")


class Browser:
    """A Chromium, spoken to through two pipes: JSON objects with a NUL after each."""

    def __init__(self, program, profile):
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def connect():
            # Chromium reads 3 and writes 4. Copied far up first, so that neither overwrites the other.
            reads, writes = os.dup2(to_read, 103), os.dup2(from_write, 104)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=connect, close_fds=False)
        os.close(to_read)
        os.close(from_write)
        self.input = os.fdopen(to_write, "wb", buffering=0)
        self.output = os.fdopen(from_read, "rb", buffering=0)
        self.rest = b""
        self.number = 0
        self.session = None
        self.complaints = []
        pages = self.ask("Target.getTargets")["targetInfos"]
        page = next(page["targetId"] for page in pages if page["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Runtime.enable")
        self.ask("Log.enable")

    def message(self):
        while b"\0" not in self.rest:
            more = self.output.read(1 << 16)
            if not more:
                raise failure("Chromium has ended")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **parameters):
        self.number += 1
        question = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            question["sessionId"] = self.session
        self.input.write(json.dumps(question).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        """What goes wrong in a script counts, and what the policy of the page refuses."""
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"].get("exception", {}).get("description", "?"))
        if event.get("method") == "Log.entryAdded" and parameters["entry"]["source"] == "security":
            self.complaints.append(parameters["entry"]["text"])
        if event.get("method") == "Page.javascriptDialogOpening":
            self.complaints.append("a dialog: " + parameters["message"])

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise failure(f"{expression}: {answer['exceptionDetails']['exception']['description']}")
        return answer["result"].get("value")

    def wait(self, what, expression):
        end = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise failure(f"{what} does not come.\n" + str(self.value("document.body.innerText")))
            time.sleep(0.05)

    def wait_text(self, text):
        self.wait(text, f"document.body.innerText.includes({json.dumps(text)})")

    def control(self, label):
        """The field of a label, or of an aria-label."""
        name = json.dumps(label)
        field = (f"(document.querySelector({json.dumps(f'[aria-label={name}]')}) || [...document.querySelectorAll('label')]"
                 f".find((label) => label.querySelector('span')?.textContent === {name})?.querySelector('input, textarea, select'))")
        self.wait(label, field)
        return field

    def fill(self, label, text):
        self.value(f"{{ const field = {self.control(label)}; field.value = {json.dumps(text)};"
                   " field.dispatchEvent(new Event('input')); }")

    def upload(self, label, path):
        """Chooses a file for a field."""
        node = self.ask("Runtime.evaluate", expression=self.control(label))["result"]["objectId"]
        self.ask("DOM.setFileInputFiles", files=[str(path)], objectId=node)

    def key(self, key, times=1, shift=False):
        """Presses a key as a keyboard does."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}.get(key, 0)
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                         modifiers=8 if shift else 0, **({"text": text} if text and kind == "keyDown" else {}))

    def tab_to(self, what, expression):
        """Goes to an element as a keyboard does."""
        for _ in range(200):
            self.key("Tab")
            if self.value(f"Boolean({expression})"):
                return
        raise failure(f"the keyboard does not reach {what}")

    def press(self, text):
        button = f"[...document.querySelectorAll('button')].find((b) => b.textContent === {json.dumps(text)})"
        self.wait(text, button)
        self.value(f"{button}.click()")

    def go(self, place, title):
        self.value(f"delete document.body.dataset.drawn; location.hash = {json.dumps(place)}")
        self.wait(title, f"document.body.dataset.drawn && document.querySelector('h1')?.textContent === {json.dumps(title)}")

    def look(self, width, scheme):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))
