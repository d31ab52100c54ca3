// JSON with numbers that JavaScript cannot represent, or would write differently.
//
// SPDX-License-Identifier: GPL-3.0-or-later

export class Written {
	constructor(text) {
		this.text = text;
	}
	toJSON() {
		return `<written ${this.text}>`;
	}
}

export function jsonText(value) {
	return JSON.stringify(value).replaceAll(/"<written ([^>]*)>"/g, "$1");
}

// Returns the same value in a form that Ajv can check.
export function plain(value) {
	return JSON.parse(jsonText(value));
}
