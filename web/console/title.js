// What people see in place of names: titles.
//
// SPDX-License-Identifier: GPL-3.0-or-later

// The control characters of the bidirectional algorithm (Bidi_Control of Unicode).
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a text without characters that change the order of the text around it. @param {string} text */
const without_bidi = (text) => text.replace(BIDI, "");

/** Returns what people see of a room or a role: its title, or its name.
 * @param {{ name: string, title?: string }} one */
export const shown_name = ({ name, title = "" }) => without_bidi(title) || name;

/** Returns a function that returns what people see of the role with a name.
 * @param {Record<string, { name: string, title?: string }>} roles of a template, by name
 * @returns {(name: string) => string} */
export const role_words = (roles) => (name) => shown_name(roles[name] ?? { name });

/** Returns roles as choices: names, and what people see of them.
 * @param {{ name: string, title?: string }[]} roles @returns {[string, string][]} */
export const role_choices = (roles) => roles.map((one) => [one.name, shown_name(one)]);

// Names that the service generates say nothing to people.
const GENERATED = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the name to be shown below a title; "" if there is no title, or the name is a generated one.
 * @param {{ name: string, title?: string }} one */
export const name_below = ({ name, title = "" }) => (title && !GENERATED.test(name) ? name : "");
