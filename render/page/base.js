"use strict";
// The page's script: sorts tables, copies SQL and draws the timeline. Texts reach the page by textContent only.
