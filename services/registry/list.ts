// Lists: tags, referrers and the catalog, each only of what the caller may see.

import { type AnswerHeaders, answer } from "./answer.ts";
import { parseDigest } from "./core/digest.ts";
import { OCI_INDEX } from "./core/manifest.ts";
import { cutPage, type Page, parsePage } from "./core/page.ts";
import { renderReferrers } from "./core/referrers.ts";
import { RegistryError } from "./errors.ts";
import { decideAlso, type Exchange, openRepository } from "./exchange.ts";

const CATALOG_PAGE = 1000;

/** GET of the tags of a repository (distribution-spec end-8a, 8b). */
export async function listTags(exchange: Exchange): Promise<void> {
  const { registry, route, query, base } = exchange;
  const { pages, tagsType } = registry.profile.behaviour;
  const repository = await openRepository(exchange);
  const page = cutPage(repository.tags(), parsePage(query, pages), pages);
  const body = Buffer.from(JSON.stringify({ name: route.name, tags: page.items }));
  answer(exchange, 200, { "Content-Type": tagsType, ...link(`${base}${route.name}/tags/list`, page) }, body);
}

/** GET of the catalog: filtered by what the caller may see before it is paged, so that paging tells nothing. */
export async function listCatalog(exchange: Exchange): Promise<void> {
  const { registry, query, base } = exchange;
  const limits = { ...registry.profile.behaviour.pages, withoutN: CATALOG_PAGE };
  const request = parsePage(query, limits);
  const names = registry.directory.names ? [...registry.directory.names()].sort() : await existingNames(exchange);
  const visible = names.filter((name) => decideAlso(exchange, name, "ListCatalog").effect === "allow");
  const page = cutPage(visible, request, limits);
  const body = Buffer.from(JSON.stringify({ repositories: page.items }));
  answer(exchange, 200, { "Content-Type": "application/json", ...link(`${base}_catalog`, page) }, body);
}

async function existingNames({ registry }: Exchange): Promise<readonly string[]> {
  return (await registry.names()).filter((name) => registry.directory.find(name));
}

function link(path: string, page: Page): AnswerHeaders {
  return page.next === undefined ? {} : { Link: `<${path}?${page.next}>; rel="next"` };
}

/** GET of the manifests that refer to a digest (distribution-spec end-12a, 12b); an unknown digest has none. */
export async function listReferrers(exchange: Exchange): Promise<void> {
  const { registry, route, query } = exchange;
  if (!registry.options.referrersApi) throw new RegistryError("unknown-path", "the referrers API is switched off");
  if (!parseDigest(route.reference)) throw new RegistryError("digest-invalid", "expected a sha256 or sha512 digest");
  const known = registry.directory.find(route.name) !== undefined;
  const absent = !known && registry.profile.behaviour.referrersOfUnknown === "empty";
  const referrers = absent ? [] : (await openRepository(exchange)).referrers(route.reference);
  const artifactType = query.get("artifactType") ?? undefined;
  const filtered: AnswerHeaders = artifactType === undefined ? {} : { "OCI-Filters-Applied": "artifactType" };
  answer(exchange, 200, { "Content-Type": OCI_INDEX, ...filtered }, renderReferrers(referrers, artifactType));
}
