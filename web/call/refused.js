// The sentence for a request that was refused.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { Refusal } from "../lib/api.js";
import { words } from "./words.js";

/** @param {unknown} error */
export const status_of = (error) => (error instanceof Refusal ? error.status : 0);

/** Returns what is said of a refusal. @param {unknown} error @param {Record<number, string>} [own] sentences of statuses */
export const refusal = (error, own = {}) =>
	own[status_of(error)] ?? (status_of(error) === 403 ? words.not_allowed : words.not_now);
