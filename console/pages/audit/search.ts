/** The filters and the page of the audit log, as in the address. */
export interface AuditSearch {
  operation?: string;
  resource?: string;
  key_id?: string;
  /** Token of the page; the first one has none. */
  pagetoken?: string;
}

/** Returns the filters of an address; other values are dropped. */
export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const parsed: AuditSearch = {};
  for (const name of ['operation', 'resource', 'key_id', 'pagetoken'] as const) {
    const value = search[name];
    if (typeof value === 'string' && value !== '') parsed[name] = value;
  }
  return parsed;
}
