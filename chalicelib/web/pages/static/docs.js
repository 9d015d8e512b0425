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

/** Return the title, page, address and text of each operation, schema and part of a guide. */
async function readSections() {
  const parts = "article[id], section[id]:not(#all-pages, :has(article))";
  const pages = [...document.querySelectorAll("nav .wide > ul > li > a")].map(async ({ href, textContent }) => {
    const text = await (await fetch(href)).text();
    return [...new DOMParser().parseFromString(text, "text/html").querySelectorAll(parts)].map((part) => ({
      title: part.querySelector("h2, h3").textContent,
      page: textContent,
      href: `${href.split("#")[0]}#${part.id}`,
      text: `${textContent} ${part.textContent}`.toLowerCase(),
    }));
  });
  return (await Promise.all(pages)).flat();
}

/**
 * Instead of the contents, list the sections of all pages that contain all words of the search, first
 * those with all words in their title and that of the page. Ctrl+K starts a search, and Enter opens the first result.
 */
function addSearch(box) {
  const [input, status, list] = box.children;
  const contents = document.querySelectorAll("nav .wide, nav .narrow");
  let sections;
  box.hidden = false;
  const search = async () => {
    if (!sections) status.textContent = "Loading…";
    sections ??= readSections().catch(() => { sections = undefined; return []; });
    const all = await sections;
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hasAll = (text) => words.every((word) => text.includes(word));
    const isOther = ({ title, page }) => !hasAll(`${title} ${page}`.toLowerCase());
    const found = words.length ? all.filter(({ text }) => hasAll(text)) : [];
    found.sort((one, other) => isOther(one) - isOther(other));
    list.replaceChildren(...found.map(({ title, page, href }) => {
      const item = document.createElement("li");
      const link = Object.assign(document.createElement("a"), { href, textContent: title });
      link.append(Object.assign(document.createElement("small"), { textContent: page }));
      item.append(link);
      return item;
    }));
    for (const part of contents) part.hidden = words.length > 0;
    status.textContent = words.length ? `${found.length} of ${all.length} sections` : "";
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", async ({ key }) => {
    if (key !== "Enter") return;
    await search();
    list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    input.select();
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
