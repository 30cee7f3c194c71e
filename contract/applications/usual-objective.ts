/**
 * The indicator by which runs are judged where nobody has named one: most apps report it. It has no direction. The file has no
 * schemas, so that the first page of the console can read it.
 */
export const USUAL_OBJECTIVE = 'result.value';
