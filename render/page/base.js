"use strict";
// The page's script: sorts tables, copies SQL and draws the timeline. Texts reach the page by textContent or by esc() only.
const esc = (text) => String(text).replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
