// The controls of a form that hold one value: text, number, time, switch, choice, tokens, JSON. Each has
// the JSON Pointer by which the service names its errors.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { h, icon, put, unique } from "./dom.js";
import { label_of } from "./labels.js";

/** @typedef {import("./schema.js").Plain} Plain */
/**
 * @typedef {object} Control
 * @property {HTMLElement} element
 * @property {string} label
 * @property {() => any} read returns undefined if the field is not sent
 * @property {(value: any) => void} write takes undefined if the field is absent
 * @property {(step: string) => Control | null} child returns the control of a field or an item
 * @property {(text: string) => void} show shows an error
 * @property {() => void} clear removes the errors
 * @property {() => void} focus
 * @property {boolean} [listed] true if the children are numbered
 */

/** @typedef {{ node: Plain, name: string, pointer: string, label?: string }} Place */

/** Opens the folded sections around an element. @param {Element} element */
export function reveal(element) {
	for (let at = element.parentElement; at; at = at.parentElement) {
		if (at instanceof HTMLDetailsElement) at.open = true;
	}
}

/** Creates a line that shows one or more errors. @param {string} id */
export function fault_line(id) {
	/** @type {string[]} */
	let texts = [];
	const element = h("p.fault", { id, hidden: true });
	return {
		element,
		/** @param {string} text */
		add(text) {
			texts.push(text);
			put(element, icon("warning"), h("span", null, texts.join("; ")));
			element.hidden = false;
		},
		clear() {
			texts = [];
			put(element);
			element.hidden = true;
		},
	};
}

/** Returns the text below a field. @param {Plain} node */
function hint_of(node) {
	const parts = [];
	// The field shows the unit, so a sentence that only repeats it is left out.
	const repeats = node.unit !== "" && node.description.split(" ").length < 4;
	if (node.description && !repeats) parts.push(node.description);
	if (node.kind === "integer" || node.kind === "number") {
		const multiple = node.step ? `, in steps of ${node.step}` : "";
		if (node.least !== undefined && node.most !== undefined) {
			parts.push(`From ${node.least} to ${node.most}${multiple}.`);
		} else if (node.least !== undefined && node.least > 0) parts.push(`At least ${node.least}.`);
	}
	if (node.kind === "time") parts.push("In the time zone of this device.");
	if (node.kind === "json") parts.push("JSON.");
	if (node.write_only) parts.push("Not shown again once saved.");
	return parts.join(" ");
}

/**
 * Creates the frame of a field: label, control, hint and error, linked for screen readers.
 * @param {Place} place @param {HTMLElement} input takes the focus @param {HTMLElement} [body]
 */
function frame({ node, name, pointer, label = node.label ?? label_of(name) }, input, body = input) {
	const id = unique("field");
	const hint_text = hint_of(node);
	const hint = hint_text ? h("p.hint", { id: `${id}-hint` }, hint_text) : null;
	const fault = fault_line(`${id}-fault`);
	const grouped = input.getAttribute("role") === "group";
	const required = node.required && h("span.required", { "aria-hidden": "true" }, "Required");
	const title = grouped
		? h("span.label", { id: `${id}-label` }, label)
		: h("label.label", { for: id }, label, required);
	if (grouped) input.setAttribute("aria-labelledby", `${id}-label`);
	input.id = id;
	input.setAttribute("aria-describedby", hint ? `${id}-hint ${id}-fault` : `${id}-fault`);
	const element = h(
		"div.field",
		{ "data-pointer": pointer, "data-kind": node.kind },
		title,
		body,
		hint,
		fault.element,
	);
	return {
		element,
		label,
		/** @param {string} text */
		show(text) {
			fault.add(text);
			element.classList.add("wrong");
			input.setAttribute("aria-invalid", "true");
		},
		clear() {
			fault.clear();
			element.classList.remove("wrong");
			input.removeAttribute("aria-invalid");
		},
		focus() {
			reveal(element);
			input.focus();
		},
		child: () => null,
	};
}

/** @param {Place} place @returns {Control} */
function text(place) {
	const { node, name } = place;
	const secret = node.write_only && /secret|key$/i.test(name);
	const input = h("input", {
		type: secret ? "password" : "text",
		autocomplete: secret ? "new-password" : "off",
		spellcheck: "false",
		placeholder: node.fallback ? String(node.fallback) : null,
	});
	const around = frame(place, input);
	input.addEventListener("input", around.clear);
	return {
		...around,
		read: () => (input.value === "" && !node.required ? undefined : input.value),
		write(value) {
			input.value = value ?? "";
		},
	};
}

/** The up and down arrows change the value by one step, with Shift by ten. @param {Place} place @returns {Control} */
function number(place) {
	const { node } = place;
	const natural = node.kind === "integer" && (node.least ?? -1) >= 0;
	const input = h("input.number", {
		type: "text",
		inputmode: natural ? "numeric" : "decimal",
		autocomplete: "off",
		placeholder: node.fallback === undefined ? "Not set" : String(node.fallback),
	});
	const unit = node.unit && h("span.unit", { "aria-hidden": "true" }, node.unit);
	const around = frame(place, input, unit ? h("div.with-unit", null, input, unit) : input);
	input.addEventListener("keydown", (event) => {
		if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
		const from = Number(input.value === "" ? (node.fallback ?? node.least ?? 0) : input.value);
		if (Number.isNaN(from)) return;
		event.preventDefault();
		const step = (node.step ?? 1) * (event.shiftKey ? 10 : 1);
		const to = event.key === "ArrowUp" ? from + step : from - step;
		input.value = String(Math.min(node.most ?? to, Math.max(node.least ?? to, to)));
		input.dispatchEvent(new Event("input", { bubbles: true }));
	});
	input.addEventListener("input", around.clear);
	return {
		...around,
		read() {
			const typed = input.value.trim();
			const value = Number(typed);
			if (typed === "") return undefined;
			// An invalid number is sent as typed: the service reports the error.
			return Number.isFinite(value) ? value : typed;
		},
		write(value) {
			input.value = value === undefined || value === null ? "" : String(value);
		},
	};
}

/** Converts a time of the API to the format of the browser's field. @param {string} iso */
function local_time(iso) {
	const at = new Date(iso);
	return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}

/** @param {Place} place @returns {Control} */
function time(place) {
	const input = h("input", { type: "datetime-local", step: "1", max: "9999-12-31T23:59:59" });
	const around = frame(place, input);
	input.addEventListener("input", around.clear);
	return {
		...around,
		read() {
			// An incomplete time has no value: send it so that the service rejects it instead of ignoring it.
			if (input.validity.badInput) return "incomplete";
			if (input.value === "") return undefined;
			return new Date(input.value).toISOString().replace(/\.\d+/, "");
		},
		write(value) {
			input.value = value ? local_time(value) : "";
		},
	};
}

/** @param {Place} place @returns {Control} */
function boolean(place) {
	const { node } = place;
	if (node.fallback === undefined && !node.required) return three_way(place);
	const input = h("input.switch", { type: "checkbox", role: "switch" });
	const around = frame(place, input);
	around.element.classList.add("row");
	input.addEventListener("change", around.clear);
	return {
		...around,
		read: () => input.checked,
		write(value) {
			input.checked = value ?? node.fallback ?? false;
		},
	};
}

/** A boolean that may be absent. @param {Place} place @returns {Control} */
function three_way(place) {
	const node = { ...place.node, options: ["true", "false"], words: ["Yes", "No"] };
	const select = choice({ ...place, node });
	return {
		...select,
		read() {
			const value = select.read();
			return value === undefined ? undefined : value === "true";
		},
		write: (value) => select.write(value === undefined ? undefined : String(value)),
	};
}

/** @param {Place} place @returns {Control} */
function choice(place) {
	const { node } = place;
	if (node.options.length === 1 && node.fallback !== undefined) return fixed(place);
	const optional = !node.required && node.fallback === undefined;
	const select = h(
		"select",
		null,
		optional && h("option", { value: "" }, "Not set"),
		node.options.map((option, i) => h("option", { value: option }, node.words?.[i] ?? option)),
	);
	const around = frame(place, select, h("div.select", null, select, icon("down")));
	select.addEventListener("change", around.clear);
	return {
		...around,
		read: () => (select.value === "" ? undefined : select.value),
		write(value) {
			const wanted = value ?? node.fallback ?? (node.required ? node.options[0] : "");
			// A value that is not among the options is kept.
			if (wanted !== "" && !node.options.includes(wanted)) {
				select.append(h("option", { value: wanted }, wanted));
			}
			select.value = wanted;
		},
	};
}

/** Shows the only possible value. @param {Place} place @returns {Control} */
function fixed(place) {
	const { node } = place;
	const output = h("output.only", null, String(node.options[0]));
	return {
		...frame({ ...place, node: { ...node, description: "" } }, output),
		read: () => node.options[0],
		write() {},
		focus: () => reveal(output),
	};
}

/** @type {Record<string, string>} */
const CHOICE_ICONS = { audio: "mic", video: "camera", screen: "screen", simulcast: "template" };

/** @param {Place} place @returns {Control} */
function choices(place) {
	const { node } = place;
	const boxes = node.options.map((option) => h("input", { type: "checkbox", value: option }));
	const labels = node.options.map((option, i) => {
		const symbol = CHOICE_ICONS[option];
		return h("label.choice", null, boxes[i], symbol && icon(symbol), h("span", null, node.words?.[i] ?? option));
	});
	const group = h("div.choices", { role: "group" }, labels);
	const around = frame(place, group);
	group.addEventListener("change", around.clear);
	const focus = () => {
		reveal(group);
		boxes[0]?.focus();
	};
	return {
		...around,
		focus,
		child: () => ({ ...around, label: "", read() {}, write() {}, focus }),
		read: () => boxes.filter((box) => box.checked).map((box) => box.value),
		write(value) {
			for (const box of boxes) box.checked = (value ?? node.fallback ?? []).includes(box.value);
		},
	};
}

/**
 * Shows texts as tokens in one box: Enter or a comma adds a token, Backspace removes the last.
 * @param {Place} place @param {string[]} suggestions @returns {Control}
 */
function texts(place, suggestions) {
	/** @type {string[]} */
	let values = [];
	let stated = false;
	const input = h("input", {
		type: "text",
		autocomplete: "off",
		spellcheck: "false",
		placeholder: "Add…",
	});
	const tokens = h("ul.tokens", { "aria-label": label_of(place.name) });
	const box = h("div.token-box", null, tokens, input);
	const offer = h("div.offer");
	const around = frame(place, input, box);
	box.after(offer);

	/** @param {string[]} next */
	function change(next) {
		stated = true;
		values = next;
		draw();
		around.clear();
		box.dispatchEvent(new Event("input", { bubbles: true }));
	}
	/** @param {string} value @param {number} at */
	function token(value, at) {
		const remove = () => {
			change(values.toSpliced(at, 1));
			input.focus();
		};
		const label = `Remove ${value}`;
		return h(
			"li.token",
			null,
			value,
			h("button.plain", { type: "button", "aria-label": label, onclick: remove }, icon("close")),
		);
	}
	function draw() {
		put(tokens, values.map(token));
		const rest = suggestions.filter((one) => !values.includes(one));
		put(
			offer,
			rest.map((one) =>
				h(
					"button.offered",
					{ type: "button", onclick: () => change([...values, one]) },
					icon("plus"),
					one,
				),
			),
		);
	}
	function take() {
		const value = input.value.trim();
		if (value === "") return;
		input.value = "";
		change([...values, value]);
	}
	input.addEventListener("keydown", (event) => {
		if ((event.key === "Enter" && input.value !== "") || event.key === ",") {
			event.preventDefault();
			take();
		} else if (event.key === "Backspace" && input.value === "" && values.length > 0) {
			change(values.slice(0, -1));
		}
	});
	input.addEventListener("blur", take);
	box.addEventListener("click", (event) => {
		if (event.target === box) input.focus();
	});
	return {
		...around,
		child: () => ({ ...around, label: "", read() {}, write() {} }),
		read: () => (stated || values.length > 0 ? [...values] : undefined),
		write(value) {
			stated = Array.isArray(value);
			values = [...(value ?? [])];
			draw();
		},
	};
}

/** Any value without a known kind, as JSON. @param {Place} place @returns {Control} */
function json(place) {
	const input = h("textarea.mono", { rows: "3", spellcheck: "false", autocomplete: "off" });
	const around = frame(place, input);
	input.addEventListener("input", around.clear);
	return {
		...around,
		child: () => ({ ...around, label: "", read() {}, write() {} }),
		read() {
			if (input.value.trim() === "") return undefined;
			try {
				return JSON.parse(input.value);
			} catch {
				return input.value;
			}
		},
		write(value) {
			input.value = value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
		},
	};
}

/**
 * Returns the control for a single value.
 * @param {Place} place @param {string[]} suggestions for texts @returns {Control}
 */
export function single(place, suggestions) {
	switch (place.node.kind) {
		case "boolean":
			return boolean(place);
		case "integer":
		case "number":
			return number(place);
		case "time":
			return time(place);
		case "choice":
			return choice(place);
		case "choices":
			return choices(place);
		case "texts":
			return texts(place, suggestions);
		case "json":
			return json(place);
		default:
			return text(place);
	}
}
