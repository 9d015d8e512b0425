// Displays a form in a page of another site, in a frame that grows with its content:
// <script src="…/public/embed.js" data-contact-form="ID"></script>
// With data-popup="Text", a button opens the form in a dialog. The script element dispatches the
// events feedback:opened, feedback:submitted and feedback:closed, which bubble.
(() => {
  const script = document.currentScript;
  const { contactForm, survey, title, chrome, popup, close, answers } = script.dataset;
  const url = new URL(survey ? "survey/page" : "contact-form/page", script.src);
  url.searchParams.set(survey ? "survey" : "id", survey ?? contactForm ?? "");
  for (const name of ["tracker", "store", "brand", "language"]) {
    if (script.dataset[name]) url.searchParams.set(name, script.dataset[name]);
  }
  for (const [key, value] of new URLSearchParams(answers)) url.searchParams.append(`a.${key}`, value);
  const report = (name) => script.dispatchEvent(new CustomEvent(`feedback:${name}`, { bubbles: true }));
  const frame = document.createElement("iframe");
  frame.title = title ?? "";
  frame.referrerPolicy = "no-referrer";
  frame.style.cssText = "display:block;width:100%;height:40rem;border:0";
  addEventListener("message", ({ data, origin, source }) => {
    if (source !== frame.contentWindow || origin !== url.origin) return;
    if (data?.feedbackSubmitted) report("submitted");
    if (!(data?.feedbackHeight > 0)) return;
    frame.style.height = `${Math.ceil(data.feedbackHeight)}px`;
    frame.title = title ?? String(data.title);
  });
  // A frame does not know whether the site around it is dark. The site's text there is light if it is.
  const load = () => {
    frame.style.color = "color-mix(in srgb, currentcolor, currentcolor)"; // Always red, green and blue.
    const { color } = getComputedStyle(frame);
    const [red, green, blue] = color.match(/[\d.e-]+/g).map(Number);
    const isDark = red * 3 + green * 6 + blue > (color.startsWith("rgb") ? 1275 : 5);
    frame.style.colorScheme = isDark ? "dark" : "light";
    url.hash = chrome === "none" ? `bare${isDark ? "-dark" : ""}` : frame.style.colorScheme;
    frame.src = url;
  };
  if (popup === undefined) {
    script.after(frame);
    load();
    report("opened");
    return;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = popup;
  button.className = "feedback-button";
  const dialog = document.createElement("dialog");
  dialog.style.cssText = "box-sizing:border-box;width:min(40rem,100%);max-width:100%;max-height:92%;padding:0;border:0;border-radius:12px;overflow:auto";
  const end = document.createElement("button");
  end.type = "button";
  end.textContent = "×";
  end.ariaLabel = close ?? "Close";
  end.style.cssText = "position:sticky;inset-block-start:0;float:inline-end;width:44px;height:44px;border:0;background:none;color:inherit;font-size:24px;cursor:pointer";
  dialog.append(end, frame);
  button.addEventListener("click", () => {
    if (!frame.src) load();
    dialog.showModal();
    report("opened");
  });
  end.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => report("closed"));
  script.after(button, dialog);
  // Any rule of the site takes precedence over these.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(":where(.feedback-button){min-height:44px;padding:.6em 1.4em;border:0;border-radius:8px;background:#1d2733;color:#fff;font:600 1rem system-ui,sans-serif;cursor:pointer}");
  document.adoptedStyleSheets.push(sheet);
})();
