/* native=2: files. The file is in the folder in which the program runs. */
#include "every.h"

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    (void)type, (void)state;
    *extent = 4;
    return MPI_SUCCESS;
}

#define F(name) MPI_##name
#define PART(name) name
#define PART_NAME "mine"
#define CONVERT MPI_CONVERSION_FN_NULL
#define DISP MPI_Aint
#include "files_sized.h"
#undef F
#undef PART
#undef PART_NAME
#undef CONVERT
#undef DISP
#define F(name) MPI_##name##_c
#define PART(name) large_##name
#define PART_NAME "large"
#define CONVERT MPI_CONVERSION_FN_NULL_C
#define DISP MPI_Count
#include "files_sized.h"

static void described(MPI_File file)
{
    MPI_Offset number;
    MPI_Datatype etype, filetype;
    MPI_Group group;
    MPI_Info info;
    char datarep[MPI_MAX_DATAREP_STRING];
    int value;
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_get_view(file, &number, &etype, &filetype, datarep);
    MPI_File_set_size(file, 64);
    MPI_File_preallocate(file, 128);
    MPI_File_get_size(file, &number);
    MPI_File_get_position(file, &number);
    MPI_File_get_position_shared(file, &number);
    MPI_File_get_byte_offset(file, 3, &number);
    MPI_File_get_amode(file, &value);
    MPI_File_get_group(file, &group);
    MPI_Group_free(&group);
    MPI_File_get_info(file, &info);
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    MPI_File_set_atomicity(file, 0);
    MPI_File_get_atomicity(file, &value);
    MPI_File_sync(file);
    MPI_File_f2c(MPI_File_c2f(file));
}

int main(int argc, char **argv)
{
    MPI_File file;
    begin(&argc, &argv);
    MPI_File_open(MPI_COMM_WORLD, "file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    described(file);
    own(file);
    large_own(file);
    collective(file);
    large_collective(file);
    split(file);
    large_split(file);
    together(file);
    large_together(file);
    represented(file);
    large_represented(file);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete("file", MPI_INFO_NULL);
    finish();
    return 0;
}
