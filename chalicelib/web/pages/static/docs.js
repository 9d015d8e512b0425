// Improves the documentation page, which also works without this script: copies examples, searches,
// and marks the current section in the contents.

/** Add a button that copies the text of an example. */
function addCopyButton(example) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
  const frame = document.createElement("div");
  frame.className = `example-code ${example.className}`;
  example.replaceWith(frame);
  frame.append(example, button);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(example.textContent.trim());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

/** Show only the operations and the parts of guides that contain all words of the search. */
function addSearch(box) {
  const [input, status] = box.children;
  const items = [...document.querySelectorAll("nav li li")].map((item) => [
    item,
    document.getElementById(item.firstElementChild.hash.slice(1)).textContent.toLowerCase(),
  ]);
  const groups = [...document.querySelectorAll("nav .wide > ul > li, nav .narrow > ul > li")];
  box.hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [item, text] of items) item.hidden = !words.every((word) => text.includes(word));
    for (const group of groups) {
      group.hidden = words.length > 0 && !group.querySelector("li:not([hidden])");
    }
    document.querySelector("nav .narrow").open = words.length > 0;
    const found = items.filter(([item]) => !item.hidden && item.closest(".wide")).length;
    status.textContent = words.length ? `${found} of ${items.length / 2} entries` : "";
  });
}

/** Mark the link to the section that is at the top of the window. */
function markCurrentSection() {
  const contents = document.querySelector("nav .wide");
  const links = [...contents.querySelectorAll("a")];
  const targets = links.map((link) => document.getElementById(link.hash.slice(1)));
  let current = null;
  const mark = () => {
    const passed = targets.filter((target) => target.getBoundingClientRect().top < 120).length;
    const link = links[Math.max(passed - 1, 0)];
    if (link === current) return;
    current?.removeAttribute("aria-current");
    current = link;
    current.setAttribute("aria-current", "location");
    const [box, row] = [contents.getBoundingClientRect(), current.getBoundingClientRect()];
    if (row.top < box.top || row.bottom > box.bottom) contents.scrollTop += row.top - box.top - box.height / 3;
  };
  let isPlanned = false;
  addEventListener("scroll", () => {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      mark();
    });
  }, { passive: true });
  mark();
}

document.querySelectorAll("pre").forEach(addCopyButton);
addSearch(document.querySelector(".search"));
markCurrentSection();
