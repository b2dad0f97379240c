// The queries that are not of one run: the list of them, and each with its parameters.
import { el, runLink } from "./dom.js";
import { mountCatalogue, mountQuery } from "./query.js";

export function mount(root, route, nav) {
  const { name } = route.path, { query } = route, content = el("div");
  nav.title(name ? `${name} query` : "Queries");
  root.append(el("h1", {}, name ? [el("a", { href: "/queries" }, "Queries"), " / ", name] : "Queries"), content);
  if (name) return mountQuery(content, { run: null, name, query, nav });
  content.append(el("p", { class: "hint" }, "These are over all runs. Those of one run are on its page: ", el("a", { href: runLink("@latest") + "?queries=" }, "queries of the newest run"), ". Anything else is ", el("a", { href: "/sql" }, "SQL"), "."));
  mountCatalogue(content, { run: null, href: (q) => `/queries/${encodeURIComponent(q)}`, find: query.get("find") ?? "", changed: (find) => nav.replace({ find }) });
}
