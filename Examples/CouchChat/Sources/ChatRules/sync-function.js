// The rules of CouchChat, as `roost serve --sync-function` and Sync Gateway run them. ChatRules.swift says the same in Swift.
function (doc, oldDoc, userCtx, secObj) {
  function refuse(reason) { throw({forbidden: reason}); }
  function isText(value) { return typeof value === "string" && value !== ""; }
  function isNames(value) { return Array.isArray(value) && value.every(isText); }

  // What is there belongs to somebody, who alone may change or delete it.
  if (oldDoc) {
    if (oldDoc.type === "profile") requireUser(oldDoc._id.substring("profile:".length));
    if (oldDoc.type === "room") requireUser(oldDoc.owners);
    if (oldDoc.type === "chat") requireUser(oldDoc.author);
  }
  // A deleted document is in no channel and grants nothing any more.
  if (doc._deleted) {
    if (!oldDoc) refuse("there is nothing to delete");
    return;
  }
  if (oldDoc && oldDoc.type !== doc.type) refuse("the type stays as it is");

  if (doc.type === "profile") {
    if (!doc._id.startsWith("profile:")) refuse("a profile's ID is profile:NAME");
    var user = doc._id.substring("profile:".length);
    requireUser(user);
    channel("profiles");
    access(user, "profiles");
  } else if (doc.type === "room") {
    if (doc.channel_id !== doc._id) refuse("a room's channel_id is its ID");
    if (!isNames(doc.owners) || doc.owners.length === 0) refuse("owners must be an array of names");
    if (doc.members !== undefined && !isNames(doc.members)) refuse("members must be an array of names");
    if (!oldDoc) requireUser(doc.owners);
    channel("ch-" + doc._id);
    access(doc.owners.concat(doc.members || []), "ch-" + doc._id);
  } else if (doc.type === "chat") {
    if (!isText(doc.author)) refuse("a message has an author");
    if (!isText(doc.channel_id)) refuse("a message has a channel_id");
    if (oldDoc && oldDoc.channel_id !== doc.channel_id) refuse("a message stays in its room");
    requireUser(doc.author);
    requireAccess("ch-" + doc.channel_id);
    channel("ch-" + doc.channel_id);
  } else {
    refuse("profiles, rooms and messages only");
  }
}
