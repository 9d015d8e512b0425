// Displays a form in a page of another site, in a frame that grows with its content:
// <script src="…/public/embed.js" data-contact-form="ID"></script>
// With data-popup="Text", a button opens the form in a dialog. The script element dispatches the
// events feedback:opened, feedback:submitted and feedback:closed, which bubble.
(() => {
  const script = document.currentScript;
  const { contactForm, survey, title, chrome, popup, close, answers, labels } = script.dataset;
  const url = new URL(survey ? "survey/page" : "contact-form/page", script.src);
  url.searchParams.set(survey ? "survey" : "id", survey ?? contactForm ?? "");
  for (const name of ["tracker", "store", "brand", "language"]) {
    if (script.dataset[name]) url.searchParams.set(name, script.dataset[name]);
  }
  for (const [key, value] of new URLSearchParams(answers)) url.searchParams.append(`a.${key}`, value);
  for (const [key, value] of new URLSearchParams(labels)) url.searchParams.append(`l.${key}`, value);
  const report = (name) => script.dispatchEvent(new CustomEvent(`feedback:${name}`, { bubbles: true }));
  const frame = document.createElement("iframe");
  frame.title = title ?? "";
  frame.referrerPolicy = "no-referrer";
  // Until the frame is settled, it catches no click that is meant for the site.
  frame.style.cssText = "display:block;width:100%;height:40rem;border:0;pointer-events:none";
  let dialog, settle;
  const settled = new Promise((resolve) => {
    let timer;
    settle = () => {
      clearTimeout(timer);
      timer = setTimeout(resolve, 200);
    };
  });
  settled.then(() => (frame.style.pointerEvents = ""));
  addEventListener("message", ({ data, origin, source }) => {
    if (source !== frame.contentWindow || origin !== url.origin) return;
    if (data?.feedbackSubmitted) report("submitted");
    if (data?.feedbackEscape) dialog?.close();
    if (!(data?.feedbackHeight > 0)) return;
    frame.style.height = `${Math.ceil(data.feedbackHeight)}px`;
    frame.title = title ?? String(data.title);
    if (dialog) dialog.dir = String(data.dir); // The form leaves room for the cross at its own side.
    settle();
  });
  // A frame does not know whether the site is dark: its text is then light.
  const load = () => {
    if (frame.src) return;
    script.style.color = "color-mix(in srgb, currentcolor, currentcolor)"; // Always red, green, blue.
    const { color } = getComputedStyle(script);
    const [red, green, blue] = color.match(/[\d.e-]+/g).map(Number);
    const isDark = red * 3 + green * 6 + blue > (color.startsWith("rgb") ? 1275 : 5);
    const scheme = isDark ? "dark" : "light";
    (dialog ?? frame).style.colorScheme = scheme;
    url.hash = chrome === "none" ? `bare${isDark ? "-dark" : ""}` : scheme;
    frame.src = url;
    frame.onload = settle;
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
  dialog = document.createElement("dialog");
  dialog.className = "feedback-dialog";
  dialog.ariaLabel = popup;
  dialog.inert = true;
  frame.name = "popup"; // Leaves room for the cross.
  const cross = document.createElement("button");
  cross.textContent = "×";
  cross.ariaLabel = close ?? "Close";
  dialog.append(cross, frame);
  // The closed dialog is transparent: its size is known before it opens.
  for (const event of ["pointerenter", "focus"]) button.addEventListener(event, load);
  button.addEventListener("click", async () => {
    load();
    await settled;
    if (dialog.open) return;
    dialog.inert = false;
    dialog.showModal();
    report("opened");
  });
  dialog.addEventListener("click", () => dialog.close()); // The cross or outside.
  dialog.addEventListener("close", () => {
    dialog.inert = true;
    report("closed");
  });
  script.after(button, dialog);
  const sheet = new CSSStyleSheet(); // Rules of the site for the button take precedence.
  sheet.replaceSync(`:where(.feedback-button){min-height:44px;padding:.6em 1.4em;border:0;border-radius:8px;background:#1d2733;color:#fff;font:600 1rem system-ui;cursor:pointer}
.feedback-dialog{display:block;position:fixed;inset:0;width:min(40rem,100%);max-width:none;max-height:none;margin:auto;padding:0;border:0;border-radius:16px;overflow:hidden;}
.feedback-dialog:not([open]){opacity:0;translate:0 2rem;pointer-events:none}
.feedback-dialog::backdrop{background:#0008}
.feedback-dialog iframe{max-height:92dvh}
.feedback-dialog button{position:absolute;inset-block:8px auto;inset-inline:auto 12px;width:44px;height:44px;padding:0;border:0;border-radius:50%;background:color-mix(in srgb,Canvas 80%,transparent);color:CanvasText;font:24px system-ui;cursor:pointer}
@media(max-width:40rem){.feedback-dialog{margin:auto 0 0;border-radius:16px 16px 0 0}}
@media(prefers-reduced-motion:no-preference){.feedback-dialog{transition:translate .2s}}`);
  document.adoptedStyleSheets.push(sheet);
})();
