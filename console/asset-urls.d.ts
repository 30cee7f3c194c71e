/** The types of addresses of files that the build copies. */
declare module '*?url' {
  const url: string;
  export default url;
}
