package schema

import "context"

// ForgetImages makes this process look for kept files again, as another process would.
func ForgetImages() {
	images.Lock()
	defer images.Unlock()
	images.known, images.told = nil, false
}

// LakeImage is the file with the views and macros for a lake.
func LakeImage(ctx context.Context, o Options, dir string) ([]byte, error) {
	return image(ctx, lakeImage, o, dir)
}
