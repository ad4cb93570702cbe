#' @rdname voxelMatrix
#' @export
voxelImage <- function(values, mask, outside = 0) image_of_values(values, mask, outside, "mask")
