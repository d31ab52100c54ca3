// Titles: rooms and roles with names that a name cannot be, on the join page, at the door, in the call and in the
// console.
//
// SPDX-License-Identifier: GPL-3.0-or-later

import { close, connected, control, knows_role, make_call, note, open_join, press_join, title } from "./call.js";
import { BASE, accessible, group, new_page, ok, sign_in } from "./stand.js";

const shown = "dialog[open]";
const field = (pointer) => `[data-pointer='${pointer}'] input`;
// With a character that would turn what follows it around.
const SENT = "Klasse 7b – \u202eMathematik";
const SHOWN = "Klasse 7b – Mathematik";

/** Guests read the titles; nobody reads the names. */
export const titles = (browser) =>
	group("titles", async () => {
		const stand = await make_call("Titles", "k7b");
		const { room, template, codes } = stand;
		const roles = `/v2/templates/${template.id}/roles`;
		await stand.api("PATCH", `/v2/rooms/${room.id}`, { title: SENT });
		await stand.api("PATCH", `${roles}/host`, { title: "Lehrkraft" });
		await stand.api("PATCH", `${roles}/guest`, { title: "\u2066Schülerin" });

		const page = await open_join(browser, stand, codes.host);
		await page.waitForSelector(title(SHOWN));
		ok("the join page has the title", (await page.title()) === `${SHOWN} – Anteroom`, await page.title());
		const role = await page.textContent(".join-role .badge");
		ok("and that of the role", role === "Lehrkraft", role);
		await accessible(page, "a join page with titles");
		const known = knows_role(page);
		await press_join(page, "Anna");
		await connected(page);
		await known;
		const heading = await page.textContent("h1");
		ok("so has the call", heading === SHOWN && (await page.title()) === `${SHOWN} – Anteroom`, heading);

		const { sid } = await stand.livekit.join(room.id, "bela", { role: "guest", shown: "Bela" });
		await page.evaluate((sid) => fake.room.come(sid, "Bela", [], { attributes: { role: "guest" } }), sid);
		await page.click(control("people"));
		const role_of = (name) => `.person:has-text("${name}") .person-role`;
		await page.waitForSelector(`${role_of("Bela")}:has-text("Schülerin")`);
		const own = await page.textContent(role_of("Anna"));
		ok("the list has titles of roles", own === "host, Lehrkraft", own);
		await page.click(".person:has-text('Bela') [aria-haspopup=menu]");
		await page.click(".menu-item:has-text('Change role')");
		const options = await page.locator("#new-role option").allTextContents();
		ok("so has the choice of a role", options.join() === "Lehrkraft,Schülerin,speaker,viewer", options);
		await page.selectOption("#new-role", "host");
		await page.click(".call-dialog [value=yes]");
		await page.waitForSelector(note("Bela now has the role Lehrkraft."));
		ok("and the note", true);
		await close(page);
		await console_titles(browser, stand);
		stand.livekit.stop();
	});

/** The console shows, finds and changes them. */
async function console_titles(browser, stand) {
	const { room, template } = stand;
	const page = await new_page(browser);
	await sign_in(page, "/console/rooms", stand.key, stand.secret);
	await page.waitForSelector(`tr:has-text("${SHOWN}"):has-text("k7b")`);
	await page.fill("input[type=search]", "mathe KLASSE");
	await page.waitForSelector("tbody tr:only-child");
	const found = await page.textContent("tbody tr .row-name");
	ok("a search finds the title", found === SHOWN, found);
	await accessible(page, "rooms with titles");
	await page.keyboard.press("Control+k");
	await page.fill(`${shown} input`, "k7b");
	await page.waitForSelector(`${shown} .palette-row:has-text("${SHOWN}")`);
	ok("the palette finds the name, and shows the title", true);
	await page.keyboard.press("Escape");

	await page.goto(`${BASE}/console/rooms/${room.id}`);
	await page.waitForSelector(title(SHOWN));
	const codes = await page.locator("section[aria-labelledby=codes] .role-name").allTextContents();
	ok("codes have titles of roles", codes.includes("Schülerin") && codes.includes("Lehrkraft"), codes.join());
	const row = "section[aria-labelledby=inside] tr:has-text('Bela')";
	await page.waitForSelector(`${row} >> text=Lehrkraft`);
	ok("so have people inside", true);
	await page.waitForSelector("section[aria-labelledby=inside] .chip:has-text('Lehrkraft')");
	await page.click("section[aria-labelledby=codes] tr:has-text('Schülerin') [aria-label^='Actions']");
	await page.click(":popover-open [role=menuitem]:has-text('Share')");
	const mail = decodeURIComponent(await page.getAttribute(`${shown} a[href^='mailto:']`, "href"));
	ok("an invitation has both", mail.includes(`join ${SHOWN} as Schülerin`), mail);
	await page.keyboard.press("Escape");
	await page.fill(field("/title"), "Übung");
	await page.click("button:text-is('Save')");
	await page.waitForSelector(title("Übung"));
	await page.fill(field("/title"), "");
	await page.click("button:text-is('Save')");
	await page.waitForSelector(title("k7b"));
	const now = await stand.api("GET", `/v2/rooms/${room.id}`);
	ok("an empty field unsets the title", !("title" in now), JSON.stringify(now));

	const [session] = (await stand.api("GET", "/v2/sessions")).data;
	await page.goto(`${BASE}/console/sessions/${session.id}`);
	await page.waitForSelector(title(SHOWN));
	const file = await page.getAttribute("a[download]", "download");
	const is_right = file.startsWith(`attendance ${SHOWN} `) && /^ \d{4}-\d\d-\d\d\.csv$/.test(file.slice(-15));
	ok("the file of a session is named by its title", is_right, file);

	await page.goto(`${BASE}/console/templates/${template.id}/roles/guest`);
	await page.waitForSelector(title("Schülerin"));
	await page.fill(field("/title"), "Gäste");
	await page.click("button:text-is('Save')");
	await page.waitForSelector(".toast");
	const role = await stand.api("GET", `/v2/templates/${template.id}/roles/guest`);
	ok("a role's title is saved", role.title === "Gäste", JSON.stringify(role));
	await page.goto(`${BASE}/console/templates/${template.id}`);
	await page.waitForSelector(".role-card:has-text('Gäste'):has-text('guest')");
	await accessible(page, "roles with titles");
	await page.context().close();
}
