// The pictures of people without video, which the join page has too.
//
// SPDX-License-Identifier: GPL-3.0-or-later

export { face, hue_of } from "../lib/face.js";
