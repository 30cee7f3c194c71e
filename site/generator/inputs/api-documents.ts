import cloud from '@switchyard/contract/openapi/cloud.json' with { type: 'json' };
import marketplace from '@switchyard/contract/openapi/marketplace.json' with { type: 'json' };

/** The API documents that a page can name. */
export const API_DOCUMENTS: Readonly<Record<string, unknown>> = { cloud, marketplace };
