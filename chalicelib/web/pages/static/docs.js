// Improves the pages of the documentation, which also work without this script: copies examples,
// searches all pages, marks the current section in the contents, and keeps the language of examples.

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

/** Return the title, the address and the text of each operation, schema and part of a guide. */
async function readSections() {
  const pages = [...document.querySelectorAll("nav .wide > ul > li > a")].map(async ({ href }) => {
    const text = await (await fetch(href)).text();
    const articles = new DOMParser().parseFromString(text, "text/html").querySelectorAll("article[id]");
    return [...articles].map((article) => ({
      title: article.querySelector("h2, h3").textContent,
      href: `${href.split("#")[0]}#${article.id}`,
      text: article.textContent.toLowerCase(),
    }));
  });
  return (await Promise.all(pages)).flat();
}

/** Instead of the contents, list the sections of all pages that contain all words of the search. */
function addSearch(box) {
  const [input, status, list] = box.children;
  const contents = document.querySelectorAll("nav .wide, nav .narrow");
  let sections;
  box.hidden = false;
  input.addEventListener("input", async () => {
    sections ??= readSections().catch(() => { sections = undefined; return []; });
    const all = await sections;
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? all.filter(({ text }) => words.every((word) => text.includes(word))) : [];
    list.replaceChildren(...found.map(({ title, href }) => {
      const item = document.createElement("li");
      item.append(Object.assign(document.createElement("a"), { href, textContent: title }));
      return item;
    }));
    for (const part of contents) part.hidden = words.length > 0;
    status.textContent = words.length ? `${found.length} of ${all.length} sections` : "";
  });
}

/** Keep the language of the examples while the reader opens other pages. */
function keepLanguage(inputs) {
  for (const input of inputs) {
    if (sessionStorage.getItem("language") === input.id) input.checked = true;
    input.addEventListener("change", () => sessionStorage.setItem("language", input.id));
  }
}

/** Mark the link to the section that is at the top of the window. */
function markCurrentSection() {
  const contents = document.querySelector("nav .wide");
  const links = [...contents.querySelectorAll("li li a")];
  if (!links.length) return;
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
keepLanguage(document.querySelectorAll(".languages input"));
