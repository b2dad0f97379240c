// The queries: the list of them, and each of those that are not of one run with its parameters.
import { el, runLink } from "./dom.js";
import { mountCatalogue, mountQuery } from "./query.js";

export function mount(root, route, nav) {
  const { name } = route.path, { query } = route, content = el("div");
  nav.title(name ? `${name} query` : "Queries");
  root.append(el("h1", {}, name ? [el("a", { href: "/queries" }, "Queries"), " / ", name] : "Queries"), content);
  if (name) return mountQuery(content, { run: null, name, query, nav });
  content.append(el("p", { class: "hint" }, "Those of one run are asked of the newest; the page of another run has them too. Anything else is ", el("a", { href: "/sql" }, "SQL"), "."));
  mountCatalogue(content, { wanted: () => true, href: (q) => q.takes_run ? `${runLink("@latest")}?query=${encodeURIComponent(q.name)}` : `/queries/${encodeURIComponent(q.name)}`, find: query.get("find") ?? "", changed: (find) => nav.replace({ find }) });
}
