# For .ci/rooms.R and .ci/floors.R: prints and returns the files that use each other, directly or indirectly. arrows: a
# data frame with a row for each use of one file by another, `from` and `to`.
show_circle <- function(arrows) {
  nodes <- unique(unlist(arrows))
  reach <- matrix(FALSE, length(nodes), length(nodes), dimnames = list(nodes, nodes))
  reach[cbind(arrows$from, arrows$to)] <- TRUE
  for (node in nodes) reach <- reach | outer(reach[, node], reach[node, ], "&")
  circle <- nodes[diag(reach)]
  if (length(circle)) cat("in a circle:", circle, "\n")
  circle
}
