/** The members of a path item that are operations, in the order of the OpenAPI 3.0 specification. */
export const HTTP_METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
