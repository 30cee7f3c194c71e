/** The filters of the audit log, as in the address. */
export type AuditSearch = { [Name in (typeof AUDIT_FILTERS)[number]['name']]?: string };

/** The filters, with the words of their chips. */
export const AUDIT_FILTERS = [
  { name: 'operation', label: 'Operation' },
  { name: 'resource', label: 'Application' },
  { name: 'key_id', label: 'Key' },
] as const;

/** Returns the filters of an address; other values are dropped. */
export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const parsed: AuditSearch = {};
  for (const { name } of AUDIT_FILTERS) {
    const value = search[name];
    if (typeof value === 'string' && value !== '') parsed[name] = value;
  }
  return parsed;
}
