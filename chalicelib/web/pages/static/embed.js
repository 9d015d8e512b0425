// Displays a form in a page of another site, in a frame that grows with its content:
// <script src="…/public/embed.js" data-contact-form="ID"></script>
(() => {
  const script = document.currentScript;
  const { contactForm, survey } = script.dataset;
  const url = new URL(survey ? "survey/page" : "contact-form/page", script.src);
  url.searchParams.set(survey ? "survey" : "id", survey ?? contactForm ?? "");
  for (const name of ["tracker", "store", "brand", "language"]) {
    if (script.dataset[name]) url.searchParams.set(name, script.dataset[name]);
  }
  const frame = document.createElement("iframe");
  frame.src = url;
  frame.title = script.dataset.title ?? "";
  frame.referrerPolicy = "no-referrer";
  frame.style.cssText = "display:block;width:100%;height:40rem;border:0";
  addEventListener("message", ({ data, origin, source }) => {
    if (source !== frame.contentWindow || origin !== url.origin) return;
    if (!(data?.feedbackHeight > 0)) return;
    frame.style.height = `${Math.ceil(data.feedbackHeight)}px`;
    frame.title = script.dataset.title ?? String(data.title);
  });
  script.after(frame);
})();
