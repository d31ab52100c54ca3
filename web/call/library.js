// Finds livekit-client, which is not part of Anteroom: the page names its file if it was installed.
//
// SPDX-License-Identifier: GPL-3.0-or-later

/** @type {Promise<any> | null} */
let loaded = null;

/**
 * Returns the library, loaded once; rejects if it cannot be loaded. The installed build sets a global, other builds
 * are modules.
 */
export function library() {
	const path = document.querySelector("meta[name=livekit-client]")?.getAttribute("content") ?? "";
	loaded ??= import(path).then((module) => {
		const lk = module.Room ? module : Reflect.get(globalThis, "LivekitClient");
		// It logs who is in the call, and each end of a connection as an error.
		lk.setLogLevel("silent");
		return lk;
	});
	loaded.catch(() => {
		loaded = null;
	});
	return loaded;
}
