"use strict";
// The theme, and the risk explorer. Names are put in as text, never as HTML.
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = dark() ? "Light theme" : "Dark theme"; };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; label(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  theme.hidden = false;
  label();

  // What is folded away on the screen is printed all the same.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
})();

(() => {
  const source = document.getElementById("explorer");
  if (!source) return;
  const { cells, losses: start } = JSON.parse(source.textContent);
  const form = document.getElementById("losses");
  const list = document.getElementById("ranking");
  const evens = document.getElementById("break-even");
  const sliders = [...form.querySelectorAll("input[type=range]")];
  const numberOf = (slider) => form.querySelector(`input[data-of=${slider.name}]`);
  const items = new Map([...list.children].map((item) => [Number(item.dataset.cell) - 1, item]));
  const signs = { pi_c: "π_c", lambda_c: "λ_c", lambda_w: "λ_W", lambda_t: "λ_T", lambda_i: "λ_I", pi_e: "π_e", lambda_e: "λ_e" };
  let losses = { ...start };

  // The same sum, in the same order, as darkcurrent.risk.risk.
  function risk(rates, l) {
    const signal = l.lambda_w * rates.wrong + l.lambda_t * rates.tie + l.lambda_i * rates.invalid_signal;
    const clone = l.lambda_c * rates.false_preference + l.lambda_i * rates.invalid_clone;
    const total = l.pi_c * clone + (1 - l.pi_c - l.pi_e) * signal;
    if (l.pi_e === 0) return total;
    return total + l.pi_e * (l.lambda_e * rates.equivalent_preference + l.lambda_i * rates.invalid_equivalent);
  }

  // Two risks that differ by rounding alone are the same, as in darkcurrent.risk.
  const unlessRounding = (difference, size) => (Math.abs(difference) <= 1e-12 * size ? 0 : difference);

  // The risk is linear in each loss: two values of it give the one at which both cells cost the same.
  function breakEven(first, second, name) {
    const room = { pi_c: 1 - losses.pi_e, pi_e: 1 - losses.pi_c }[name];
    const step = room === undefined ? 1 : room;
    const difference = (value) => {
      const l = { ...losses, [name]: value };
      const one = risk(first, l), other = risk(second, l);
      return unlessRounding(one - other, one + other);
    };
    const atZero = difference(0), atStep = difference(step);
    const slope = step === 0 ? 0 : unlessRounding(atStep - atZero, Math.abs(atStep) + Math.abs(atZero));
    if (slope === 0 || atZero * slope > 0) return null;
    const value = -step * atZero / slope;
    // Where nothing else occurs any more, cells that differ elsewhere are equal: that tells nothing.
    return room === undefined || value < room ? value : null;
  }

  const digits = (value, count) => value.toFixed(count);
  const short = (value) => String(Number(value.toPrecision(3)));

  function say(tag, text) {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  }

  function sayBreakEvens(first, second) {
    evens.replaceChildren();
    if (second === undefined) return;
    const [a, b] = [cells[first.index], cells[second.index]];
    const gap = unlessRounding(second.value - first.value, second.value + first.value);
    if (gap === 0) {
      evens.append(say("p", `${a.name} and ${b.name} cost the same at these losses.`));
      return;
    }
    const points = document.createElement("ul");
    for (const slider of sliders) {
      const value = breakEven(a.rates, b.rates, slider.name);
      if (value === null || value === losses[slider.name]) continue;
      const side = value > losses[slider.name] ? "below" : "above";
      points.append(say("li", `${signs[slider.name]} is ${side} ${short(value)} (now ${short(losses[slider.name])})`));
    }
    const lead = `${a.name} costs ${short(gap)} less in each call than ${b.name}`;
    evens.append(say("p", points.children.length ? `${lead}; that stays so, all else as set, while` : `${lead}, and no one loss alone changes that.`));
    if (points.children.length) evens.append(points);
  }

  function show() {
    const ranked = cells.map(({ rates }, index) => ({ index, value: risk(rates, losses) }))
      .sort((x, y) => x.value - y.value || x.index - y.index);
    const highest = Math.max(...ranked.map(({ value }) => value));
    for (const { index, value } of ranked) {
      const item = items.get(index);
      item.dataset.risk = String(value);
      item.querySelector(".value").textContent = digits(value, 4);
      item.querySelector(".bar span").style.width = `${highest > 0 ? 100 * value / highest : 0}%`;
      list.append(item);
    }
    sayBreakEvens(...ranked);
    for (const slider of sliders) {
      slider.value = losses[slider.name];
      slider.setAttribute("aria-valuetext", String(losses[slider.name]));
      const number = numberOf(slider);
      if (document.activeElement !== number) number.value = losses[slider.name];
    }
  }

  // A value that means nothing is not taken; two prevalences have a sum of 1 at most.
  function take(name, text) {
    const value = Number(text);
    const share = name.startsWith("pi_");
    if (String(text).trim() === "" || !(value >= 0) || value === Infinity || (share && value > 1)) return;
    losses[name] = value;
    const other = { pi_c: "pi_e", pi_e: "pi_c" }[name];
    if (other && losses[other] > 1 - value) losses[other] = 1 - value;
  }

  function read() {
    const found = /^#risk\?(.*)$/.exec(location.hash);
    if (!found) return;
    for (const [name, text] of new URLSearchParams(found[1])) if (sliders.some((slider) => slider.name === name)) take(name, text);
    show();
    document.getElementById("risk").scrollIntoView();
  }

  function write() {
    const chosen = new URLSearchParams(sliders.map(({ name }) => [name, losses[name]]));
    history.replaceState(null, "", `#risk?${chosen}`);
  }

  form.addEventListener("input", ({ target }) => { take(target.dataset.of || target.name, target.value); show(); write(); });
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => { event.preventDefault(); losses = { ...start }; show(); write(); });
  addEventListener("hashchange", read);
  document.getElementById("no-script").remove();
  form.querySelectorAll("[disabled]").forEach((control) => { control.disabled = false; });
  show();
  read();
})();
