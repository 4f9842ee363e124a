"use strict";
(() => {
  const find = (what, within = document) => within.querySelector(what);
  const all = (what, within = document) => [...within.querySelectorAll(what)];

  // Updates while the page is open.
  const news = find("[data-news]");
  const listen = () => {
    const began = news.dataset.state;
    const source = new EventSource(news.dataset.news);
    const end = ({ title, words, next }) => {
      const head = find("h1");
      document.title = head.textContent = title;
      while (head.nextSibling) head.nextSibling.remove();
      const text = document.createElement("p");
      text.textContent = words;
      text.setAttribute("role", "status");
      head.after(text);
      if (next) {
        const link = document.createElement("a");
        link.className = "button";
        link.href = String(next);
        link.textContent = "Next question";
        const line = document.createElement("p");
        line.append(link);
        text.after(line);
      }
    };
    source.addEventListener("news", (event) => {
      const now = JSON.parse(event.data);
      const isOpen = began === "open" || began === "opened";
      news.classList.remove("lost");
      if (now.state === "gone") source.close();
      if (isOpen && (now.state === "over" || now.state === "gone")) end(now);
      else if (began === "open" && now.state === "opened") location.replace(news.dataset.news.split("-")[0]);
      else if (!isOpen && now.next) location.replace(String(now.next));
      else if (now.state === "gone" && find("p.quiet")) find("p.quiet").textContent = "You can close this page.";
      else if (isOpen) news.textContent = now.waiting ? `${now.waiting} more waiting` : "";
    });
    source.onerror = () => {
      if (began === "over" || !news.isConnected) return source.close();
      news.classList.add("lost");
      news.textContent = "The command that asked cannot be reached. It may have ended.";
    };
  };
  if (news) listen();

  // Errors, as soon as a field loses focus.
  const form = find("form[data-live]");
  const live = () => {
    const touched = new Set();
    const base = (name) => name.replace(/-(again|zone|on|count)$/, "");
    let isBusy = false, isLate = false, timer;
    form.noValidate = true;
    const broken = () => all("input", form).filter((input) => input.validity.badInput);
    const show = (wrongs) => {
      for (const input of broken()) wrongs[input.name] = input.type === "number" ? "this is not a number" : "this is not whole yet";
      for (const id of touched) {
        const words = document.getElementById(`${id}-error`);
        if (!words) continue;
        const reason = wrongs[id] || "";
        if (words.textContent !== reason) words.textContent = reason;
        words.hidden = !reason;
        document.getElementById(`${id}-field`).classList.toggle("wrong", !!reason);
        for (const input of all(`[name="${id}"], [name="${id}-again"]`, form)) {
          if (input.matches("[type=radio], [type=checkbox]")) continue;
          if (reason) input.setAttribute("aria-invalid", "true");
          else input.removeAttribute("aria-invalid");
          const about = (input.getAttribute("aria-describedby") || "").replace(` ${id}-error`, "");
          input.setAttribute("aria-describedby", reason ? `${about} ${id}-error` : about);
        }
      }
    };
    const check = async () => {
      if (isBusy) return void (isLate = true);
      isBusy = true;
      try {
        const body = new URLSearchParams(new FormData(form));
        const reply = await fetch(form.dataset.live, { method: "POST", body });
        if (reply.ok) show(await reply.json());
      } catch {
        // The news line says if the run cannot be reached.
      }
      isBusy = false;
      if (isLate) {
        isLate = false;
        check();
      }
    };
    form.addEventListener("change", ({ target }) => {
      // The first half of a pair is not wrong just because the second is still missing.
      const other = document.getElementById(`${target.id}-again`);
      if (target.name && !(other && !other.value)) touched.add(base(target.name));
      check();
    });
    form.addEventListener("input", ({ target }) => {
      const field = target.closest(".field");
      if (field) all(".default", field).forEach((line) => line.classList.remove("taken"));
      if (!target.name || !target.closest(".field.wrong")) return;
      clearTimeout(timer);
      timer = setTimeout(check, 250);
    });
    form.addEventListener("submit", (event) => {
      const [first] = broken();
      if (!first || (event.submitter && event.submitter.formNoValidate)) return;
      event.preventDefault();
      broken().forEach((input) => touched.add(base(input.name)));
      show({});
      first.focus();
    });
  };
  if (form) live();

  // Opening a link means agreeing to it.
  const opening = find("form[data-opened]");
  const open = async (event) => {
    if (event.button > 1) return;
    const body = new URLSearchParams(new FormData(opening));
    body.set("do", "opened");
    try {
      await fetch(opening.action, { method: "POST", body });
    } finally {
      location.replace(opening.action);
    }
  };
  if (opening) ["click", "auxclick"].forEach((kind) => find("a.agrees", opening).addEventListener(kind, open, { once: true }));

  // Filters for long lists.
  for (const input of all("[data-filter]")) {
    const list = find(`[data-list="${input.dataset.filter}"]`);
    const entries = list.tagName === "SELECT" ? [...list.options] : all("label", list);
    const found = find(".found", input.parentElement);
    input.parentElement.hidden = false;
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const fits = (entry) => words.every((word) => entry.textContent.toLowerCase().includes(word));
      const isKept = (entry) => fits(entry) || entry.selected || entry.value === "" || entry.value === "out";
      const real = entries.filter((entry) => entry.value !== "" && entry.value !== "out");
      const count = real.filter(fits).length;
      if (list.tagName === "SELECT") list.replaceChildren(...entries.filter(isKept));
      else entries.forEach((entry) => (entry.hidden = !fits(entry)));
      found.textContent = words.length ? `${count} of ${real.length}` : "";
    });
    // The filter is not part of the answer, and Enter in it sends nothing.
    input.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  }
})();
