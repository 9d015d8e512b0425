// Improves the page of a form, which also works without this script: evaluates the conditions while
// the respondent answers, checks answers, and sends them without leaving the page.
//
// The first part evaluates conditions and answers as the server does: see domain/comparison.py,
// domain/forms/visibility.py and domain/feedback/answers.py. The script and the server both run the
// cases in tests/web/pages/cases.json.

const SPACE = "\\t\\n\\v\\f\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const ENDS = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "g");
const DECIMAL_COMMA = /^([+-]?[0-9]+),([0-9]+)$/;
const NUMBER = /^([+-]?)0*([0-9]*?)(?:\.([0-9]+))?$/;

/** Return the values of an answer as the server reads them: trimmed, without empty ones. */
export function cleaned(values, field = {}) {
  return values
    .map((value) => value.replace(/\r\n?|\n/g, "\r\n").replace(ENDS, ""))
    .filter(Boolean)
    .map((value) => field.canonical?.[value] ?? (field.comma ? value.replace(DECIMAL_COMMA, "$1.$2") : value));
}

/** Return a number as [sign, integer digits, fraction digits], or null for other texts. */
function asNumber(text) {
  if (text.length > 100 || !/^[+-]?[0-9]+(\.[0-9]+)?$/.test(text)) return null;
  const [, sign, integer, fraction = ""] = NUMBER.exec(text);
  const digits = fraction.replace(/0+$/, "");
  const isZero = !integer && !digits;
  return [isZero ? 0 : sign === "-" ? -1 : 1, integer, digits];
}

function order(left, right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Compare numbers by value, and other texts by code point. */
export function compare(left, right) {
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a && b) {
    if (a[0] !== b[0]) return order(a[0], b[0]);
    const size = order(a[1].length, b[1].length) || order(a[1], b[1]) || order(a[2], b[2]);
    return (size && size * a[0]) || 0;
  }
  const [x, y] = [Array.from(left), Array.from(right)];
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (x[i] !== y[i]) return order(x[i].codePointAt(0), y[i].codePointAt(0));
  }
  return order(x.length, y.length);
}

const equal = (left, right) => left === right || compare(left, right) === 0;

/** Return whether the values satisfy a comparison; `expected` is a list for $in and $nin. */
export function satisfies(values, comparator, expected) {
  const some = (test) => values.some(test);
  const isIn = () => some((value) => expected.some((item) => equal(value, item)));
  switch (comparator) {
    case "$eq": return some((value) => equal(value, expected));
    case "$ne": return !some((value) => equal(value, expected));
    case "$in": return isIn();
    case "$nin": return !isIn();
    case "$gt": return some((value) => compare(value, expected) > 0);
    case "$gte": return some((value) => compare(value, expected) >= 0);
    case "$lt": return some((value) => compare(value, expected) < 0);
    case "$lte": return some((value) => compare(value, expected) <= 0);
    case "$contains": return some((value) => value.includes(expected));
    default: return values.length > 0 === (expected !== "false"); // $exists
  }
}

/** Return the numbers of the visible fields. `answers` maps field numbers to values. */
export function visibleFields(data, answers) {
  const conditional = new Set(data.conditions.map(([field]) => field));
  const visible = new Set(Object.keys(data.fields).map(Number).filter((n) => !conditional.has(n)));
  const holds = (operator, items, test) => (operator === "$or" ? items.some(test) : items.every(test));
  for (const [field, operator, dependencies] of data.conditions) {
    const isMet = ([other, combination, comparisons]) => {
      const all = visible.has(other) ? (answers[other] ?? []) : [];
      const values = data.fields[other].several ? all : all.slice(0, 1);
      return holds(combination, comparisons, ([comparator, expected]) => satisfies(values, comparator, expected));
    };
    if (holds(operator, dependencies, isMet)) visible.add(field);
  }
  return visible;
}

/** Return the code of the first error of an answer, or "" if the script finds none. */
export function answerError(field, values, maxLength) {
  const count = values.length;
  if (!count) return field.required ? "required" : "";
  if (values.some((value) => Array.from(value).length > maxLength)) return "too_long";
  if (count > 1 && !field.several) return "too_many";
  if (field.max && count > field.max) return "too_many";
  if (field.min && count < field.min) return "too_few";
  if (new Set(values).size < count) return "duplicate";
  if (!field.pattern) return "";
  const pattern = new RegExp(`^(?:${field.pattern})$`);
  return values.every((value) => pattern.test(value)) ? "" : field.invalid;
}

// The second part improves the page.

const RETRIES_S = [2, 5, 15];
const MAX_PAUSE_S = 60;

/** Wait for some seconds, or until the connection is back. Without seconds, only for the connection. */
const pause = (seconds, retryAfterS = 0) =>
  new Promise((resolve) => {
    addEventListener("online", resolve, { once: true });
    if (seconds) setTimeout(resolve, Math.min(Math.max(seconds, retryAfterS), MAX_PAUSE_S) * 1000);
  });

class Form {
  constructor(form) {
    this.form = form;
    this.data = JSON.parse(document.getElementById("data").textContent);
    this.shown = new Set();
    this.storageKey = `answers ${location.pathname.replace(/[^/]*$/, "")} ${this.part("id")} ${this.part("tracker")}`;
    this.restore();
    this.refresh(false);
    form.addEventListener("input", (event) => this.onInput(event));
    form.addEventListener("change", (event) => this.onChange(event));
    form.addEventListener("submit", (event) => this.onSubmit(event));
    for (const button of form.querySelectorAll(".clear")) {
      button.addEventListener("click", () => this.clear(button));
    }
    if (form.matches("[data-saves]")) {
      const parts = {};
      for (const name of ["id", "tracker", "version", "labels", "idempotencyKey"]) parts[name] = this.part(name);
      this.taps = new Taps(form.action, parts, () => this.tapped(), (given) => this.onSaved(given));
    }
    // The style sheet depends on the same query. A browser without it shows all questions.
    if (form.matches(".stepping") && matchMedia("(scripting: enabled)").matches) this.steps = new Steps(this);
  }

  part(name) {
    return this.form.elements[name]?.value ?? "";
  }

  container(n) {
    return this.form.querySelector(`[data-field="${n}"]`);
  }

  controls(n) {
    return [...this.container(n).querySelectorAll(":is(input, select, textarea):not([type=hidden], .filter)")];
  }

  values(n) {
    const given = this.controls(n)
      .filter((control) => !isChoice(control) || control.checked)
      .map((control) => control.value);
    return cleaned(given, this.data.fields[n]);
  }

  /** Show and hide fields, and announce how many appeared. */
  refresh(announce = true) {
    const answers = Object.fromEntries(Object.keys(this.data.fields).map((n) => [n, this.values(n)]));
    const visible = visibleFields(this.data, answers);
    const added = [...visible].filter((n) => !this.shown.has(n)).length;
    for (const n of Object.keys(this.data.fields)) this.container(n).hidden = !visible.has(Number(n));
    for (const block of this.form.querySelectorAll("section, section .row")) {
      block.hidden = !block.querySelector("[data-field]:not([hidden])");
    }
    this.shown = visible;
    const words = this.data.revealed;
    if (announce && added && !this.steps) this.announce(words[Math.min(added, words.length) - 1]);
    this.steps?.show();
  }

  /** Display a text below Send, where it moves no control. */
  say(text) {
    this.form.querySelector(".status").textContent = text;
  }

  /** Tell a text to screen readers only. */
  announce(text) {
    this.form.querySelector(".announced").textContent = text;
  }

  onInput({ target }) {
    const container = target.closest("[data-field]");
    if (target.matches(".filter")) return filter(container, plain(target.value));
    if (target.matches("[type=text][data-own]") && target.value) {
      for (const radio of container.querySelectorAll("[type=radio][data-own]")) radio.checked = true;
    }
    if (container?.classList.contains("wrong")) this.check(container.dataset.field);
    this.refresh();
    this.keep();
  }

  onChange({ target }) {
    if (target.type === "radio" && target.checked && !target.matches("[data-own]")) {
      for (const own of target.closest("fieldset").querySelectorAll("[type=text][data-own]")) own.value = "";
      this.refresh();
      this.keep();
    }
  }

  /** Remove the answer to an optional question with radio buttons. */
  clear(button) {
    const { field } = button.closest("[data-field]").dataset;
    for (const control of this.controls(field)) {
      if (isChoice(control)) control.checked = false;
      else control.value = "";
    }
    this.controls(field)[0].focus();
    if (this.container(field).classList.contains("wrong")) this.check(field);
    this.refresh();
    this.keep();
  }

  /** Display the error of a field and return its text. */
  check(n) {
    const field = this.data.fields[n];
    const isBad = this.controls(n).some((control) => control.validity.badInput);
    const code = isBad ? field.invalid : answerError(field, this.values(n), this.data.maxLength);
    const text = code && (field.errors[code] ?? "");
    const container = this.container(n);
    container.querySelector(".error").textContent = text;
    container.classList.toggle("wrong", Boolean(text));
    for (const control of container.querySelectorAll("input:not([type]), [aria-describedby]:not(fieldset)")) {
      if (text) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
    return text;
  }

  onSubmit(event) {
    event.preventDefault();
    if (document.activeElement.matches(".filter")) return; // Enter
    if (this.isSending || this.steps?.advance()) return;
    const order = [...this.form.querySelectorAll("[data-field]:not([hidden])")].map((item) => item.dataset.field);
    const errors = order.map((n) => [n, this.check(n)]).filter(([, text]) => text);
    this.say("");
    this.summarize(errors);
    if (!errors.length) this.send();
  }

  summarize(errors, message = "", title = this.data.errorsTitle) {
    const summary = this.form.querySelector(".summary");
    summary.querySelector("h2").textContent = title;
    summary.querySelector("p").textContent = message;
    summary.querySelector("ul").replaceChildren(...errors.map(([n, text]) => {
      const link = document.createElement("a");
      const label = this.container(n).querySelector("legend, label").textContent.replace(/\s*\*\s*$/, "");
      const first = this.controls(n)[0];
      link.href = `#${first.id}`;
      link.textContent = `${label}${/[?!.:؟？。]$/.test(label) ? "" : ":"} ${text}`;
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.steps?.open(first);
        first.focus();
      });
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    summary.hidden = !errors.length && !message;
    if (!summary.hidden) summary.focus();
  }

  /**
   * Send the answers. Without connection or while the service is busy, send them again with the
   * same idempotency key: after some seconds, and as soon as the connection is back.
   */
  async send(attempt = 0) {
    const button = this.form.querySelector("button.send");
    this.isSending = true;
    button.setAttribute("aria-disabled", "true");
    this.say(this.data.sending);
    this.keep();
    const response = await this.post();
    if (response?.isPage && response.status < 502) {
      this.show(response.html, response.ok);
    } else if (attempt < RETRIES_S.length || !navigator.onLine) {
      this.say(response ? this.data.busy : this.data.offline);
      await pause(RETRIES_S[attempt], response?.retryAfterS);
      return this.send(attempt + 1);
    } else {
      this.say("");
      this.summarize([], this.data.notSent, this.data.notSentTitle);
    }
    this.isSending = false;
    button.removeAttribute("aria-disabled");
  }

  /** Post the form. Return the response, or null if there is no connection. */
  async post() {
    try {
      const response = await fetch(this.form.action, {
        method: "POST",
        body: new FormData(this.form),
        headers: { Accept: "text/html" },
      });
      return {
        ok: response.ok,
        status: response.status,
        retryAfterS: Number(response.headers.get("Retry-After")) || 0,
        isPage: response.headers.get("Content-Type")?.startsWith("text/html"),
        html: await response.text(),
      };
    } catch {
      return null;
    }
  }

  /** Replace the content with the page that the server returned. */
  show(html, isDone) {
    if (isDone) {
      this.store(null);
      const { depth } = history.state ?? {};
      const finish = () => history.replaceState({ done: html }, "");
      if (depth) {
        addEventListener("popstate", finish, { once: true });
        history.go(-depth); // Then Back leaves the survey.
      } else finish();
      if (parent !== window) parent.postMessage({ feedbackSubmitted: true }, "*"); // No answers.
    }
    display(html);
  }

  /** Keep the answers for this tab, so that a reload does not lose them. */
  keep() {
    const answers = {};
    for (const n of Object.keys(this.data.fields)) {
      answers[this.part(`fields[${n}][id]`)] = this.controls(n)
        .filter((control) => !isChoice(control) || control.checked)
        .map((control) => [control.value, control.matches("[data-own]")]);
    }
    const [store, key] = [this.part("store"), this.part("idempotencyKey")];
    this.store(JSON.stringify({ answers, store, key, prefilled: prefilledAnswers(), step: this.steps?.at }));
    this.taps?.save();
  }

  /** Return the valid ratings and choices, or null if the form is being sent. */
  tapped() {
    if (this.isSending || !this.form.isConnected) return null;
    const answers = [];
    for (const n of this.shown) {
      const field = this.data.fields[n];
      if (field.consent && !this.values(n).length) return [];
      const chosen = this.controls(n).filter((control) => control.matches(":is(:checked, select):not([data-own])"));
      const values = cleaned(chosen.map((control) => control.value));
      const code = answerError(field, values, this.data.maxLength);
      if (values.length && (!code || code === "too_few")) answers.push({ id: this.part(`fields[${n}][id]`), values });
    }
    return answers;
  }

  /** Say what is saved: beside the scale and, with steps, below Send. */
  onSaved(answers) {
    const { saved, savedRating, savesTaps } = this.data;
    const rating = this.form.querySelector("[data-field]:not([hidden]) .scale :checked");
    const text = rating ? savedRating.replace("%(rating)s", rating.value) : saved;
    saySaved(answers.length ? text : savesTaps);
    if (this.steps && answers.length) this.say(text);
  }

  store(text) {
    try {
      if (text === null) sessionStorage.removeItem(this.storageKey);
      else sessionStorage.setItem(this.storageKey, text);
    } catch {
      // The browser blocks storage, for example in a frame of another site.
    }
  }

  /** Restore the kept answers, except where the respondent opened a link with other answers. */
  restore() {
    let kept = null;
    try {
      kept = JSON.parse(sessionStorage.getItem(this.storageKey));
    } catch {
      // The browser blocks storage.
    }
    if (!kept || this.form.querySelector(".summary:not([hidden])")) return;
    const { elements } = this.form;
    elements.idempotencyKey.value = kept.key;
    if (elements.store && kept.store) elements.store.value = kept.store;
    const isOtherLink = kept.prefilled !== prefilledAnswers();
    if (!isOtherLink) this.step = kept.step;
    for (const n of Object.keys(this.data.fields)) {
      if (isOtherLink && this.values(n).length) continue;
      const values = kept.answers[this.part(`fields[${n}][id]`)] ?? [];
      for (const control of this.controls(n)) {
        const own = control.matches("[data-own]");
        const given = values.filter(([, isOwn]) => isOwn === own).map(([value]) => value);
        if (isChoice(control)) control.checked = own ? given.length > 1 : given.includes(control.value);
        else control.value = given.at(-1) ?? "";
      }
    }
  }
}

/**
 * Shows one question at a time, with progress and Back. All fields stay in the form. Each step is an entry in the
 * history of the tab; only the page of a frame adds none to the history of the site around it.
 */
class Steps {
  constructor(form) {
    this.form = form;
    this.element = form.form;
    this.cards = [...this.element.querySelectorAll(".row")];
    this.first = Math.max(0, this.cards.findIndex((card) => card.matches(".now")));
    this.at = form.step ?? this.first;
    this.back = this.element.querySelector(".back");
    this.back.addEventListener("click", () => {
      if (history.state?.depth) history.back();
      else this.open(this.shown[this.shown.indexOf(this.current) - 1]);
    });
    addEventListener("popstate", ({ state }) => {
      if (this.element.isConnected) this.open(this.cards[state?.step ?? this.first], false);
    });
    this.element.addEventListener("click", (event) => this.onClick(event));
    this.show();
    this.record();
  }

  get shown() {
    return this.cards.filter((card) => !card.hidden);
  }

  get current() {
    return this.cards[this.at];
  }

  /** The next question that the link did not answer. */
  get next() {
    return this.cards.find((card, n) => n > this.at && !card.hidden && !card.matches("[data-given]"));
  }

  show() {
    while (this.at > 0 && this.current?.hidden !== false) this.at -= 1;
    if (this.current.hidden) this.at = this.cards.indexOf(this.shown[0] ?? this.current);
    for (const card of this.cards) card.classList.toggle("now", card === this.current);
    const { shown, element } = this;
    const number = shown.indexOf(this.current) + 1;
    const text = this.form.data.progress.replace("%(n)d", number).replace("%(total)d", shown.length);
    const label = element.querySelector(".progress");
    if (label.textContent !== text) label.textContent = text;
    element.querySelector("progress").value = this.at + 1;
    this.back.hidden = number < 2;
    element.classList.toggle("begun", this.at !== this.first);
    element.classList.toggle("last", !this.next);
  }

  /** Make the step the one to which the browser's Back returns. */
  record() {
    history.replaceState({ ...history.state, step: this.at }, "");
  }

  /** Open the question that contains an element. */
  open(element, isForward = false) {
    if (isForward && parent === window) history.pushState({ depth: (history.state?.depth ?? 0) + 1 }, "");
    this.at = Math.max(0, this.cards.indexOf(element.closest(".row")));
    this.show();
    this.record();
    this.form.keep();
    const text = this.current.querySelectorAll("input[type=text], textarea");
    const focused = isForward && text.length === 1 && matchMedia("(pointer: fine)").matches ? text[0] : this.current;
    this.current.tabIndex = -1;
    focused.focus({ preventScroll: true });
    scrollTo(0, 0);
    this.current.scrollIntoView({ block: "nearest" }); // A frame cannot scroll the site around it.
  }

  /** Continue as soon as the respondent taps an answer. With a keyboard, arrows only change the choice. */
  onClick(event) {
    const { target, detail } = event;
    if (target.type !== "radio" || target.matches("[data-own]") || !detail) return;
    if (detail > 1) event.preventDefault(); // The second click would answer the next question.
    else {
      this.form.refresh();
      if (this.next && this.current.querySelectorAll("[data-field]:not([hidden])").length === 1) this.advance();
    }
  }

  /** Move to the next question if the answers to this one are valid. Return false at the end. */
  advance() {
    const { next } = this;
    if (!next) return false;
    const fields = [...this.current.querySelectorAll("[data-field]:not([hidden])")];
    const wrong = fields.filter(({ dataset }) => this.form.check(dataset.field));
    if (wrong.length) this.form.controls(wrong[0].dataset.field)[0].focus();
    else this.open(next, true);
    return true;
  }
}

// The third part saves ratings and choices before they are sent.

/** Post answers, also while the page is being left. Return null without connection. */
function postTap(action, parts, answers) {
  const body = new FormData();
  const all = { step: "save", sequence: Date.now(), ...parts, fields: JSON.stringify(answers) };
  for (const name in all) body.append(name, all[name]);
  return fetch(action, { method: "POST", body, keepalive: true }).catch(() => null);
}

/** Replace the text about saving. It keeps its height, so that the next tap meets what it aims at. */
function saySaved(text) {
  const note = document.querySelector(".saves");
  if (!note) return; // The answers are sent meanwhile.
  note.style.minHeight = `${note.getBoundingClientRect().height}px`;
  note.textContent = text;
}

/** Saves what `answers` returns: after the first touch, and when it has changed. */
class Taps {
  constructor(action, parts, answers, onSaved) {
    Object.assign(this, { action, parts, answers, onSaved, saved: "[]" });
    const onTouch = ({ isTrusted }) => {
      if (!isTrusted || this.isTouched) return;
      this.isTouched = true;
      this.save();
    };
    for (const touch of ["pointerdown", "keydown", "click"]) addEventListener(touch, onTouch, true);
    addEventListener("online", () => this.save());
    addEventListener("pagehide", () => this.save(true));
  }

  /** Save the answers, one request after the other, unless the page is being left. */
  async save(isLeaving) {
    const answers = this.isTouched && this.answers();
    const text = JSON.stringify(answers);
    if (!answers || text === this.saved || (this.isSaving && !isLeaving)) return;
    this.isSaving = true;
    this.saved = text;
    const response = await postTap(this.action, this.parts, answers);
    this.isSaving = false;
    if (!response || response.status >= 429) this.saved = null;
    else {
      if (response.ok) this.onSaved(answers);
      this.save();
    }
  }
}

/** Save the tap on a question before the survey, or on its offer. */
function saveTapBeforeForm({ action, parts, field, score, saved }) {
  const question = document.querySelector("form.question");
  const answers = () => {
    const value = score ?? question?.querySelector(":checked")?.value;
    return value ? [{ id: field, values: [value] }] : [];
  };
  const onSaved = () => saved && saySaved(saved);
  const follow = ({ isTrusted }) => isTrusted && postTap(action, parts, []);
  if (!field) document.querySelector("a.send")?.addEventListener("click", follow);
  else {
    const taps = new Taps(action, parts, answers, onSaved);
    question?.addEventListener("change", () => taps.save());
  }
}

/** Return the answers in the address of the page as text. */
const prefilledAnswers = () =>
  [...new URLSearchParams(location.search)].filter(([name]) => name === "score" || name.startsWith("a.")).join();

const isChoice = (control) => control.type === "radio" || control.type === "checkbox";

/** Return a text without accents and in lower case. */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Show only the options that contain a text, and those that are selected. */
function filter(container, text) {
  for (const option of container.querySelectorAll(".choices label")) {
    option.hidden = !plain(option.textContent).includes(text) && !option.querySelector(":checked");
  }
}

/** Replace the main content and the title with those of another page, and move the focus there. */
function display(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  document.title = page.title;
  for (const part of [".top", "main"]) {
    const current = document.querySelector(part);
    const next = page.querySelector(part);
    if (next) current?.replaceWith(document.adoptNode(next));
    else current?.remove();
  }
  scrollTo(0, 0);
  document.querySelector("main[tabindex]")?.focus();
  start();
}

/** Continue as soon as the respondent taps an answer. With a keyboard, arrows only change the choice. */
function continueOnTap(form) {
  form.addEventListener("click", ({ target, detail }) => {
    if (target.type === "radio" && detail > 0) form.requestSubmit();
  });
}

/** Report the height of the content and Escape to the page that embeds this frame (embed.js). */
function reportToSite() {
  if (parent === window) return;
  const { classList, style } = document.documentElement;
  classList.add("framed");
  classList.toggle("popup", window.name === "popup");
  addEventListener("keydown", ({ key, isComposing }) => {
    if (key === "Escape" && !isComposing) parent.postMessage({ feedbackEscape: true }, "*");
  });
  const report = () => {
    style.setProperty("--tallest", `${document.querySelector(".page").offsetHeight}px`); // For steps.
    const { body, dir, title } = document;
    const message = { feedbackHeight: body.offsetHeight, title, dir };
    parent.postMessage(message, "*"); // Any site may embed a form. The message contains no answers.
  };
  new ResizeObserver(report).observe(document.body);
}

function start() {
  const form = document.querySelector("form[method=post]");
  if (form) new Form(form);
  const question = document.querySelector("form.question");
  if (question) continueOnTap(question);
  document.querySelector(".summary:not([hidden])")?.focus();
  const tap = document.getElementById("tap");
  if (tap) saveTapBeforeForm(JSON.parse(tap.textContent));
  for (const image of [...document.images]) {
    const remove = () => image.remove();
    if (image.complete && !image.naturalWidth) remove();
    else image.addEventListener("error", remove);
  }
}

if (typeof document !== "undefined") {
  reportToSite();
  const [visit] = performance.getEntriesByType("navigation");
  const { done } = history.state ?? {};
  if (done && visit?.type === "back_forward") display(done);
  else {
    if (done) history.replaceState(null, "");
    start();
  }
}
