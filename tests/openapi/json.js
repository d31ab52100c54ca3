// JSON with numbers that JavaScript cannot hold, or would write otherwise.
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

// The same value as Ajv can look at it.
export function plain(value) {
	return JSON.parse(jsonText(value));
}
